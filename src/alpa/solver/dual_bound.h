#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "alpa/solver/mrf.h"

namespace alpa::solver {

/// A lower bound on a Markov random field by sequential tree-reweighted message passing, in integers throughout.
///
/// Each edge e = (a, b) carries potentials A(x_a), B(x_b) that move cost between it and its ends:
/// theta'_e = theta_e - A - B, theta'_i = theta_i + sum of the potentials of i's edges. Any integers are valid, so
/// rounding never breaks the bound sum_i min theta'_i (the edges' minima are kept at 0).
/// **Source**: Kolmogorov 2006 (TRW-S), 2015 (SRMP).
///
/// A copy goes on from where the original stands, and shares its tables.
class DualBound {
 public:
  explicit DualBound(const Mrf& mrf);

  /// Of `mrf`, which is the field of `whole` with only the strategies `kept` of each node: goes on with its potentials
  /// and counts in the same scaled units.
  DualBound(const Mrf& mrf, const DualBound& whole, const std::vector<std::vector<int32_t>>& kept);

  /// Costs are multiplied by 2^scale_bits() inside, so that shares of a unit can be passed.
  int scale_bits() const { return scale_bits_; }

  /// Replaces the unaries (scaled). Potentials stay: they are valid for any unaries.
  void set_unaries(std::vector<std::vector<int64_t>> unaries);

  /// Leaves a node no strategy but one.
  void choose(int32_t node, int32_t strategy);

  /// One backward and one forward pass. Returns the scaled bound, without the field's constant.
  Cost sweep();

  /// The same bound; decoded(), forced() and reduced() stay as they were, which saves time.
  Cost sweep_in_silence();

  /// The same over some nodes alone, ascending: cost moves between them, and the rest stays as it is.
  Cost sweep_among(const std::vector<int32_t>& nodes);

  /// One more sweep, handing each edge's table and a floor under the scaled bound for each of its pairs to `hear`, once
  /// from each end: (edge, whether from end a, bounds by strategy of that end and of the other, row-major).
  using PairListener = std::function<void(int32_t, bool, const std::vector<Cost>&)>;
  Cost sweep_pairs(const PairListener& hear);

  /// Labels chosen node by node along the last forward pass.
  const std::vector<int32_t>& decoded() const { return decoded_; }

  /// At each node's last visit: the scaled bound if the node took the strategy.
  const std::vector<std::vector<Cost>>& forced() const { return forced_; }

  /// The unary after reparametrisation at the last visit, less its minimum: how good a strategy looks.
  const std::vector<std::vector<int64_t>>& reduced() const { return reduced_; }

  /// The scaled field as the potentials leave it, which has the same minimum: unaries, and an edge's table with the
  /// strategies of its end a (or, `by_b`, of b) varying fastest; forbidden is kInfinite.
  const std::vector<std::vector<int64_t>>& reparametrised() const { return current_; }
  std::vector<int64_t> reparametrised_edge(int32_t edge, bool by_b) const;

  std::vector<int64_t> potentials() const { return potentials_; }
  void set_potentials(std::vector<int64_t> potentials);

 private:
  struct Side {
    const int64_t* costs = nullptr;  ///< Scaled table whose rows are the sender's strategies.
    int32_t potential = 0;           ///< Of the sender's end; the other end's is this one with its last bit flipped.
    int32_t edge = 0;
    int32_t neighbour = 0;
  };

  struct Scaled {
    TablePtr original;          ///< Kept, so that no other table takes its address.
    std::vector<int64_t> rows;  ///< Scaled; rows are the strategies of end a.
    std::vector<int64_t> cols;  ///< The same, turned.
  };

  /// What does not change once it is made.
  struct Edges {
    std::map<const Table*, std::shared_ptr<const Scaled>> tables;  ///< Looked up only.
    std::vector<std::vector<Side>> later;                          ///< Edges to nodes after.
    std::vector<std::vector<Side>> earlier;                        ///< Edges to nodes before.
    std::vector<size_t> places;                                    ///< Of the potentials, two an edge.
  };

  std::shared_ptr<const Scaled> scaled(const TablePtr& table) const;
  const int64_t* potential(int32_t index) const { return potentials_.data() + edges_->places[index]; }
  void build_edges(const DualBound* whole);
  void visit(int32_t node, bool forward, const std::vector<char>* inside = nullptr);
  void decode(int32_t node);
  void hear_pairs(int32_t node, const PairListener& hear);
  Cost pass(bool silent, const PairListener* hear);
  void refresh();
  void record_forced(int32_t node);

  const Mrf* mrf_;
  int scale_bits_ = 0;
  std::shared_ptr<const Edges> edges_;
  std::vector<std::vector<int64_t>> unaries_;
  std::vector<int64_t> potentials_;            ///< Two an edge, by Edges::places: that of a, that of b.
  std::vector<std::vector<int64_t>> current_;  ///< theta' of each node.
  std::vector<int64_t> least_;                 ///< Its minimum.
  Cost total_ = 0;                             ///< Sum of the minima: the bound, once all edges were visited.
  std::vector<int64_t> message_;
  std::vector<int64_t> share_;
  std::vector<int32_t> decoded_;
  std::vector<std::vector<Cost>> forced_;
  std::vector<std::vector<int64_t>> reduced_;
};

}  // namespace alpa::solver
