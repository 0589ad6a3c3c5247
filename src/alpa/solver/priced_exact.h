#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "alpa/solver/cost.h"
#include "alpa/solver/elimination.h"
#include "alpa/solver/graph.h"
#include "alpa/solver/memory_rows.h"
#include "alpa/solver/mrf.h"

namespace alpa::solver {

/// A best labelling at given prices on memory, and the bound that it proves under the usage limit.
struct PricedOptimum {
  Cost bound = 0;               ///< In the field's units, its constant included.
  std::vector<int32_t> labels;  ///< Of the field.
};

/// A field minimised exactly at given prices: at fixed prices no vertex is tied to memory any more, so the reductions
/// and the dynamic programme, which does equal layers once, apply to all of it.
///
/// **Source**: Lagrangian relaxation of the limit, Fisher 1981.
class PricedExact {
 public:
  /// `rows` are those of `mrf`; both are kept by reference. `threads` as in Options.
  PricedExact(const Mrf& mrf, const MemoryRows& rows, int64_t limit, const EliminationBudget& budget, int threads);

  /// Nothing where the budget does not suffice, no labelling is allowed or sums would not fit in 64 bits.
  std::optional<PricedOptimum> at(const std::vector<double>& price) const;

  /// A labelling that is best where node i pays `bias[i]` times the prices.
  std::optional<std::vector<int32_t>> at(const std::vector<double>& price, const std::vector<double>& bias) const;

  /// The scale of the prices, near 1, at which the bound is best, and that bound: the next scale to try is where the
  /// lines that the best labellings on either side promise meet.
  struct Scale {
    double scale = 1;
    double bound = 0;
  };
  std::optional<Scale> best_scale(const std::vector<double>& price, int most) const;

 private:
  struct Minimum {
    int64_t cost = 0;
    std::vector<int32_t> labels;
  };
  std::optional<Minimum> minimise(const std::vector<std::vector<int64_t>>& unaries) const;

  const Mrf& mrf_;
  const MemoryRows& rows_;
  Graph graph_;             ///< The field, its vertices free of memory.
  Cost largest_edges_ = 0;  ///< Sum of the tables' largest finite entries.
  int64_t limit_;
  EliminationBudget budget_;
  int threads_;
};

}  // namespace alpa::solver
