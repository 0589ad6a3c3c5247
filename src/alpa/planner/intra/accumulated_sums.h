#pragma once

#include <vector>

#include "alpa/planner/intra/intra.h"

namespace alpa::planner {

/// How values of a step with micro-batches go into the sums over them. Collectives on values that go there by linear
/// operations alone run once a step (passes::defer_sums): the problem and the prediction both follow this.
struct AccumulatedSums {
  /// By node: the feed whose output it is, if that adds to an accumulator; else -1. Operand 1 is what is added.
  std::vector<int> feed_of;
  /// By node: positions of operands that it is linear in, the others being fixed.
  std::vector<std::vector<size_t>> linear_operands;
  /// By node: true if its result goes into sums alone, by linear operations.
  std::vector<char> absorbed;
};

inline constexpr size_t kAddend = 1;  ///< Of an addition to an accumulator; operand 0 is what was there before.

AccumulatedSums accumulated_sums(const IntraRequest& request);

}  // namespace alpa::planner
