#pragma once

#include "alpa/hlo/module.h"

namespace alpa::passes {

/// Makes the root of the entry a tuple of its outputs: partitioning leaves as root what gives them all, as a
/// conditional or a loop, where the step returns just that. `module`: its result is a flat tuple.
hlo::Module tuple_root(hlo::Module module);

}  // namespace alpa::passes
