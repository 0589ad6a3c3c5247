#pragma once

#include "alpa/pjrt/plugin.h"
#include "alpa/planner/intra/device_program.h"

namespace alpa::compiler {

/// What the planner must know of a plug-in's compiler to predict the memory of a program.
planner::DeviceCompiler device_compiler(const pjrt::Plugin& plugin);

/// Whether its compiler, on a CPU, drops barriers first of all: then what is recomputed behind one is merged with the
/// original.
bool drops_barriers(const pjrt::Plugin& plugin);

}  // namespace alpa::compiler
