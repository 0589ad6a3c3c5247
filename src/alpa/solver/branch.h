#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "alpa/solver/dual_bound.h"
#include "alpa/solver/elimination.h"
#include "alpa/solver/mrf.h"

namespace alpa::solver {

/// Part of a field's labellings, those that keep to the strategies that are left, with a bound that goes on from that
/// of the whole.
class Branch {
 public:
  /// All labellings of a field, with the bound as far as it has got (at least one sweep).
  Branch(std::shared_ptr<const Mrf> mrf, DualBound dual);

  /// The undecided node with the most undecided neighbours, or -1. What is decided there parts the field.
  int32_t hub() const;

  /// Strategies of a node, the most promising first.
  std::vector<int32_t> ranked(int32_t node) const;

  /// The nodes nearest to a node, across undecided ones: those that feel most what is decided there.
  std::vector<int32_t> around(int32_t node, size_t most) const;

  /// The part in which a node takes a strategy.
  Branch choose(int32_t node, int32_t strategy) const;

  /// Sweeps on, until the bound reaches `limit`, at most so many times. Costs here are scaled, without the field's
  /// constant.
  void sweep(int sweeps, Cost limit);

  /// The same among some nodes alone, which is quicker; decoded() and ranked() stay as they were.
  void sweep_among(const std::vector<int32_t>& nodes, int sweeps, Cost limit);

  /// Takes out of the field what cannot be part of a labelling below `limit`. False if then nothing is left.
  bool narrow(Cost limit);

  /// The least cost of a labelling and one that has it, where elimination can tell within the budget.
  struct Minimum {
    Cost cost = 0;
    std::vector<int32_t> labels;  ///< Of the whole field.
  };
  std::optional<Minimum> minimum(const EliminationBudget& budget) const;

  Cost bound() const { return bound_; }
  size_t size() const { return size_t(mrf_->size()); }
  int64_t entries() const { return mrf_->entries(); }
  /// Labels of the whole field, decoded along the last sweep.
  std::vector<int32_t> decoded() const;

 private:
  std::shared_ptr<const Mrf> mrf_;
  std::shared_ptr<const std::vector<std::vector<int32_t>>> strategies_;  ///< Of the whole field, those left by node.
  DualBound dual_;
  Cost bound_ = 0;
};

}  // namespace alpa::solver
