#include "alpa/compiler/device_compiler.h"

namespace alpa::compiler {

planner::DeviceCompiler device_compiler(const pjrt::Plugin& plugin) {
  constexpr int kLastWithoutLibrary = 81;  // Of PJRT API 0; 115 is the next that was measured.
  return {.library_reductions = plugin.api_minor() > kLastWithoutLibrary};
}

}  // namespace alpa::compiler
