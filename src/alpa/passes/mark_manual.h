#pragma once

#include "alpa/hlo/module.h"

namespace alpa::passes {

/// Makes a partitioned program one that XLA's partitioner leaves as it is: every instruction of the entry, and of its
/// loops, branches and calls, lies on all devices as the program itself says (MANUAL).
hlo::Module mark_manual(const hlo::Module& partitioned);

}  // namespace alpa::passes
