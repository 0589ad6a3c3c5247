#pragma once

#include <cstdint>
#include <vector>

#include "alpa/solver/cost.h"
#include "alpa/solver/graph.h"
#include "alpa/solver/table.h"

namespace alpa::solver {

/// A Markov random field: the living part of a Graph, renumbered and fixed in form, as bounds and searches want it.
struct Mrf {
  struct Edge {
    int32_t a = 0;  ///< Rows; a < b.
    int32_t b = 0;
    TablePtr table;
  };
  std::vector<int32_t> vertex;  ///< Graph vertex of each node.
  std::vector<std::vector<int64_t>> unary;
  std::vector<Edge> edges;
  std::vector<std::vector<int32_t>> incident;  ///< Edges of each node.
  int64_t constant = 0;

  int32_t size() const { return static_cast<int32_t>(unary.size()); }
  int32_t domain(int32_t node) const { return static_cast<int32_t>(unary[node].size()); }
  int32_t other(int32_t edge, int32_t node) const { return edges[edge].a == node ? edges[edge].b : edges[edge].a; }
  TableView view(int32_t edge, int32_t node) const { return TableView(*edges[edge].table, edges[edge].a == node); }
  int64_t entries() const;
};

/// The graph's living vertices, in order.
Mrf snapshot(Graph& graph);

/// The field with only the strategies `kept` of each node, ascending; equal tables stay shared.
Mrf restricted(const Mrf& mrf, const std::vector<std::vector<int32_t>>& kept);

/// Cost of a labelling (one strategy index a node): the constant included; `forbidden` counts infinite entries, which
/// add nothing to the cost.
struct MrfCost {
  Cost cost = 0;
  int64_t forbidden = 0;
};
MrfCost cost_of(const Mrf& mrf, const std::vector<int32_t>& labels);

/// Node sets of the connected components, each in order, by their first node.
std::vector<std::vector<int32_t>> components_of(const Mrf& mrf);

/// Original strategies of all nodes of the problem for a labelling of the field.
std::vector<int32_t> expand(const Graph& graph, const Mrf& mrf, const std::vector<int32_t>& labels);

}  // namespace alpa::solver
