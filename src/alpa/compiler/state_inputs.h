#pragma once

#include <vector>

#include "alpa/compiler/program.h"

namespace alpa::compiler {

/// By input: whether an output feeds it, so that it is state of the training loop.
std::vector<char> state_inputs(const Program& program);

/// By input: whether a dot or convolution depends on it. Parameters do so; the optimizer's moments do not, they end in
/// the updates. **Cost**: O(nodes + operands) a pass, two passes where there are loops.
std::vector<char> reaching_contractions(const Program& program);

}  // namespace alpa::compiler
