#pragma once

#include "alpa/hlo/module.h"
#include "alpa/pjrt/client.h"
#include "alpa/pjrt/compile_options.h"

namespace alpa::compiler {

/// What XLA's partitioner makes of a program with a sharding on every instruction, for one device: real collectives,
/// none combined. No code is generated.
/// Errors: those of pjrt::partition_only.
hlo::Module partition(const hlo::Module& annotated, const pjrt::Client& client, const pjrt::CompileOptions& options);

}  // namespace alpa::compiler
