#pragma once

#include "alpa/hlo/rewrite.h"

namespace alpa::passes {

/// True if the value is known to be the same on all devices: constants and iotas, what all devices gathered or summed
/// together, and what is made of such values alone.
bool is_same_everywhere(const hlo::Module& module, const hlo::Rewrite& rewrite, hlo::InstructionId id,
                        int64_t num_devices);

/// True if `user` makes of a sum in `operand` the sum of what it makes of the terms, its other operands being the same
/// for each: moves and changes of sign, and products with what is the same on all devices or quotients by it. A sum
/// over devices may then be made after `user` instead of before it, and over several such steps one after another.
/// Conversions round, so they are none; nor is the sum of two values, of which both would have to be terms.
bool is_linear(const hlo::Module& module, const hlo::Rewrite& rewrite, hlo::InstructionId user,
               hlo::InstructionId operand, int64_t num_devices);

}  // namespace alpa::passes
