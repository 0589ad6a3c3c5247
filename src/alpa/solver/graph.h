#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "alpa/solver/cost.h"
#include "alpa/solver/problem.h"
#include "alpa/solver/table.h"

namespace alpa::solver {

/// The problem while it is being reduced: vertices and links that shrink, and the records that lead back.
///
/// A vertex is an original node. Its strategies lose members as they are ruled out; `label` keeps their original
/// numbers. A vertex that leaves the graph leaves a Record that says how its strategy follows from those of its
/// parents, so that any choice for the vertices that remain extends to all nodes (`extend`).
class Graph {
 public:
  struct Vertex {
    std::vector<int32_t> label;  ///< Original strategy of each strategy left.
    std::vector<int64_t> cost;
    std::vector<int32_t> links;  ///< May hold dead links.
    int32_t degree = 0;          ///< Living links.
    int32_t original_size = 0;   ///< Strategies of the original node.
    bool alive = true;
    bool uses_memory = false;  ///< Its strategy may change the usage at some time step.
    bool dirty = true;         ///< Costs or links changed since the last `take_dirty`.
  };
  struct Link {
    int32_t a = 0;  ///< Rows of the table.
    int32_t b = 0;  ///< Columns.
    TablePtr table;
    bool alive = true;
  };
  /// `choice` is indexed by the parents' original strategies, row-major.
  struct Record {
    int32_t vertex = 0;
    std::vector<int32_t> parents;
    std::vector<int32_t> choice;
  };

  /// Costs are divided by 2^shift, rounded down, when their sum would not fit in 64 bits: then bounds stay bounds.
  explicit Graph(const Problem& problem, bool with_memory);

  /// Vertices with these costs, without memory and without links yet.
  explicit Graph(const std::vector<std::vector<int64_t>>& costs);

  int32_t size() const { return static_cast<int32_t>(vertices_.size()); }
  const Vertex& vertex(int32_t v) const { return vertices_[v]; }
  Vertex& vertex(int32_t v) { return vertices_[v]; }
  const Link& link(int32_t l) const { return links_[l]; }
  int32_t link_count() const { return static_cast<int32_t>(links_.size()); }
  int32_t domain(int32_t v) const { return static_cast<int32_t>(vertices_[v].cost.size()); }
  int32_t other(int32_t l, int32_t v) const { return links_[l].a == v ? links_[l].b : links_[l].a; }
  TableView view(int32_t l, int32_t v) const { return TableView(*links_[l].table, links_[l].a == v); }
  int64_t constant() const { return constant_; }
  int shift() const { return shift_; }
  bool infeasible() const { return infeasible_; }
  const std::vector<Record>& records() const { return records_; }

  /// Living links of v, after dropping the dead ones from its list.
  const std::vector<int32_t>& links_of(int32_t v);

  /// The living link between two vertices, or -1.
  int32_t find_link(int32_t u, int32_t v);

  /// Adds a table between a (rows) and b (columns); where they are linked already the tables are summed. Returns the
  /// link.
  int32_t add_link(int32_t a, int32_t b, TablePtr table);
  void remove_link(int32_t l);
  void set_table(int32_t l, TablePtr table);

  /// Keeps the strategies with keep[s] != 0. Touched links get new tables.
  void restrict_to(int32_t v, std::span<const char> keep);

  /// Takes an unlinked vertex out: its strategy is decided by `record`.
  void retire(int32_t v, Record record);

  void add_constant(int64_t cost) { constant_ += cost; }
  void set_infeasible() { infeasible_ = true; }

  /// Links whose table changed since the last call, in order.
  std::vector<int32_t> take_touched();

  /// Whether a vertex changed since the last call for it. Costs change only together with links.
  bool take_dirty(int32_t v) { return std::exchange(vertices_[v].dirty, false); }

  /// Fills in the strategies of the vertices that left, from those of the vertices that remain (original numbers).
  void extend(std::vector<int32_t>& choice) const;

 private:
  void attach(int32_t l);
  void touch(int32_t l);

  std::vector<Vertex> vertices_;
  std::vector<Link> links_;
  std::vector<Record> records_;
  std::vector<int32_t> touched_;
  int64_t constant_ = 0;
  int shift_ = 0;
  bool infeasible_ = false;
};

}  // namespace alpa::solver
