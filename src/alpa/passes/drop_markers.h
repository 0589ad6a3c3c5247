#pragma once

#include "alpa/hlo/module.h"

namespace alpa::passes {

/// The program without gradient and pipeline markers and without sharding hints of its own (custom calls that are
/// identities): uses of a marker's results become uses of its operands.
hlo::Module drop_markers(const hlo::Module& module);

}  // namespace alpa::passes
