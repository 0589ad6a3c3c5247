#pragma once

#include <vector>

#include "alpa/hlo/module.h"

namespace alpa::hlo {

/// By instruction of a computation: whether it is made of constants, iotas and the device's number alone, so that each
/// run of the program makes it anew as it was.
std::vector<bool> fixed_values(const Computation& computation);

/// Positions of the operands in which an instruction is linear, all together, the other operands being fixed: of a sum
/// in them it makes the sum of what it makes of the terms. Moves, slices at fixed places, sums along dims, products
/// with what is fixed, additions; conversions from float to float, which round. Only of floats and complex numbers.
/// Empty if it is not linear, and for collectives and whatever calls more than a reducer.
std::vector<size_t> linear_operands(const Module& module, const Computation& computation, InstructionId id,
                                    const std::vector<bool>& fixed);

}  // namespace alpa::hlo
