#pragma once

#include "alpa/hlo/module.h"

namespace alpa::hlo {

/// True for the scalar constant 0.
bool is_zero_scalar(const Instruction& instruction);

/// True for the scalar constant 0 and for it made larger.
bool is_zero(const Computation& computation, InstructionId id);

}  // namespace alpa::hlo
