#pragma once

#include "alpa/hlo/module.h"

namespace alpa::passes {

/// Leaves out the collectives of a partitioned program that it need not run: those whose result nothing uses, those
/// among single devices, a second one that gives what the first gave, and all-gathers whose result is sliced back to
/// what was gathered (the slice's offset is worked out for each device).
hlo::Module drop_dead_collectives(const hlo::Module& module, int64_t num_devices);

}  // namespace alpa::passes
