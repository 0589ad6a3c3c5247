#pragma once

#include <cstdint>
#include <vector>

#include "alpa/hlo/value_graph.h"

namespace alpa::planner {

/// When a node's results are alive, in steps of the flattened program: [begin, end).
struct Lifetime {
  int64_t begin = 0;
  int64_t end = 0;
  bool occupies = false;  ///< False for what is fused into its user: it never exists whole.
};

/// By node. Inputs that the module donates live until their last use, other inputs and all outputs to the end; what a
/// loop carries lives to the loop's end, and its next value in its memory where it is dead by then.
/// An elementwise, broadcast or reshape result with a single user that is elementwise or a reduction is taken to be
/// fused into it; its operands then live until that user is done. A barrier hands on its operand. Copies that changes
/// of placement make are not counted.
std::vector<Lifetime> lifetimes(const hlo::Module& module, const hlo::ValueGraph& graph);

}  // namespace alpa::planner
