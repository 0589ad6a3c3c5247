#pragma once

#include "alpa/hlo/module.h"

namespace alpa::passes {

/// All-gathers along one dim that follow each other, the first used by the second alone, become one over the union of
/// their groups: axes of a mesh that the partitioner gives up one after another are given up at once, and no device
/// receives a tile twice. Where the tiles would not come in the same order on all devices, both stay.
hlo::Module merge_all_gathers(const hlo::Module& module, int64_t num_devices);

}  // namespace alpa::passes
