#pragma once

#include <vector>

#include "alpa/hlo/value_graph.h"

namespace alpa::planner {

/// A value that a loop carries and only adds to, or writes rows of; nothing else in the loop reads it. Collectives on
/// the way into it, by linear operations alone, may run after the loop: the same rule as passes/loop_sums.h, on values.
struct CarriedSum {
  hlo::ValueId carry = 0;
  hlo::NodeId update = 0;  ///< The addition, or the dynamic-update-slice.
  size_t carried = 0;      ///< Operand of `update` that is the carry.
  size_t addend = 0;       ///< Operand of `update` that goes into it.
  int64_t rows = 0;        ///< Of an array that begins as zeros and is written row by row; 0 for what is added up.
  hlo::ValueId row = -1;   ///< That is written, the same on all devices.
  hlo::ComputationId caller = 0;
  double executions = 1;  ///< Of the loop.
};

/// By carry.
std::vector<CarriedSum> carried_sums(const hlo::Module& module, const hlo::ValueGraph& graph);

}  // namespace alpa::planner
