#pragma once

#include "alpa/pjrt/plugin.h"
#include "alpa/planner/intra/device_program.h"

namespace alpa::compiler {

/// What the planner must know of a plug-in's compiler to predict the memory of a program.
planner::DeviceCompiler device_compiler(const pjrt::Plugin& plugin);

}  // namespace alpa::compiler
