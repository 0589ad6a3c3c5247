#pragma once

#include <cstdint>
#include <vector>

#include "alpa/hlo/module.h"

namespace alpa::hlo {

/// Dims of the first operand whose elements are added up in one array that lacks them: what a dot or a convolution
/// without groups contracts (a convolution's spatial dims apart), what a reduction by addition reduces. Empty for
/// anything else.
std::vector<int64_t> summed_dims(const Module& module, const Instruction& instruction);

}  // namespace alpa::hlo
