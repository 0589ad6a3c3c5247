#pragma once

#include <optional>
#include <vector>

#include "alpa/planner/intra/intra.h"

namespace alpa::planner {

/// How values go into sums over micro-batches and over the turns of loops. Collectives on values that go there by
/// linear operations alone run once a step (passes::defer_sums), or once a loop (passes::hoist_loop_sums): the problem
/// and the prediction both follow this.
struct AccumulatedSums {
  /// By node: the feed whose output it is, if that adds to an accumulator; else -1. Operand 1 is what is added.
  std::vector<int> feed_of;
  /// By node: positions of operands that it is linear in, the others being fixed.
  std::vector<std::vector<size_t>> linear_operands;
  /// By node: how often a step communicates its result, since that goes into sums alone, by linear operations; nothing
  /// if it must be as often as it is made.
  std::vector<std::optional<double>> communications;
};

inline constexpr size_t kAddend = 1;  ///< Of an addition to an accumulator; operand 0 is what was there before.

AccumulatedSums accumulated_sums(const IntraRequest& request);

}  // namespace alpa::planner
