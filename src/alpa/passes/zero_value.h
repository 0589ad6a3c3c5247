#pragma once

#include "alpa/hlo/module.h"

namespace alpa::passes {

/// True for the scalar constant 0 and for it made larger.
bool is_zero(const hlo::Computation& computation, hlo::InstructionId id);

}  // namespace alpa::passes
