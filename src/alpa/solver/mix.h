#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "alpa/solver/priced_exact.h"
#include "alpa/solver/problem.h"

namespace alpa::solver {

/// The few strategies that some labellings take: a small field in which they mix, layer by layer.
///
/// At the best price equal layers all want to change at once, so that one labelling takes too much and the next far too
/// little. Mixed, some layers change and others do not.
class Mix {
 public:
  /// Of the strategies that `labellings` take (-1: none), in the field `mrf` of `graph`. A labelling that is allowed
  /// stays so.
  Mix(const Problem& problem, const Graph& graph, const Mrf& mrf, const std::vector<std::vector<int32_t>>& labellings,
      int64_t limit);

  const Mrf& field() const { return field_; }
  const MemoryRows& rows() const { return rows_; }

  /// The best scale of the prices in the small field.
  std::optional<PricedExact::Scale> best_scale(const std::vector<double>& price, const EliminationBudget& budget) const;

  struct Search {
    std::vector<double> price;  ///< One a row of the field.
    Cost enough = 0;            ///< In the graph's units: what costs no more need not be made better.
    uint64_t seed = 1;
    int threads = 0;
    std::function<bool()> stop;  ///< Asked now and then. True: stop.
  };
  /// Labellings that fit, at prices that each node takes a little differently: ties between layers break this way and
  /// that. The best are made better by local search. `meet` is handed them as choices for the whole problem, with their
  /// cost in the graph's units.
  void search(const Search& request, const EliminationBudget& budget,
              const std::function<void(const std::vector<int32_t>&, Cost)>& meet) const;

 private:
  struct Found {
    std::vector<int32_t> labels;  ///< Empty: none that fits.
    Cost cost = 0;
  };
  Found biased(const Search& request, size_t number, const EliminationBudget& budget) const;
  Found improved(const Search& request, size_t number, const Found& start) const;

  int64_t limit_;
  Graph graph_;
  Mrf field_;
  MemoryRows rows_;
};

}  // namespace alpa::solver
