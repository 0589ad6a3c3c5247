#pragma once

#include "alpa/hlo/module.h"

namespace alpa::passes {

/// The program without gradient and pipeline markers and without hints for XLA's propagation of shardings (custom
/// calls that are identities): uses of a marker's results become uses of its operands.
hlo::Module drop_markers(const hlo::Module& module);

/// Errors: InvalidArgumentError that names the marker if it does not give its operands as they are.
void require_identity(const hlo::Computation& computation, const hlo::Instruction& marker);

/// The same, gradient markers kept.
hlo::Module drop_other_markers(const hlo::Module& module);

}  // namespace alpa::passes
