#pragma once

#include <vector>

#include "alpa/planner/intra/kernels.h"

namespace alpa::planner {

/// Adds the copies that the compiler makes because something is written in place: of a parameter whose memory a root
/// takes, unless all that reads the parameter is done, by the dataflow alone, before the root is made; of what comes
/// into a loop, unless the loop leaves it as it is or is the last to read it.
KernelGraph with_copies(const DeviceProgram& program, KernelGraph graph, const std::vector<DeviceAlias>& aliases);

}  // namespace alpa::planner
