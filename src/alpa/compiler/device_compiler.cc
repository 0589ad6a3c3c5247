#include "alpa/compiler/device_compiler.h"

namespace alpa::compiler {

namespace {

constexpr int kLastOld = 81;  // Of PJRT API 0; 115 is the next that was measured.

}  // namespace

planner::DeviceCompiler device_compiler(const pjrt::Plugin& plugin) {
  return {.reductions_by_library = plugin.api_minor() > kLastOld};
}

bool drops_barriers(const pjrt::Plugin& plugin) { return plugin.api_minor() <= kLastOld; }

}  // namespace alpa::compiler
