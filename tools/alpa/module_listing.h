#pragma once

#include <string>

#include "alpa/hlo/module.h"

namespace alpa::tool {

/// A module as text, a line an instruction: name, shape, opcode, operands, called computations.
std::string module_listing(const hlo::Module& module);

}  // namespace alpa::tool
