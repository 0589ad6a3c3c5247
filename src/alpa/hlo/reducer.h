#pragma once

#include <optional>

#include "alpa/hlo/module.h"

namespace alpa::hlo {

/// The operation of a reducer that applies one to its two parameters, in whichever order; nothing for any other.
std::optional<Opcode> reducer_opcode(const Computation& reducer);

}  // namespace alpa::hlo
