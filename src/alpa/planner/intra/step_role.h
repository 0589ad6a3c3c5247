#pragma once

#include <cstddef>
#include <cstdint>

#include "alpa/hlo/module.h"
#include "alpa/planner/intra/predicted_program.h"

namespace alpa::planner {

/// What an instruction is to the collective passes. `others`: operands that are not the same on all devices by
/// themselves; `by_generated`: the last one is.
StepRole role_of(const hlo::Instruction& instruction, size_t others, bool by_generated);

/// How many times an array's bytes its sum over micro-batches has: sums of floats below 32 bits are kept in f32.
int64_t sum_factor(tensor::DType dtype);

}  // namespace alpa::planner
