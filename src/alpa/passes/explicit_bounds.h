#pragma once

#include "alpa/hlo/module.h"

namespace alpa::passes {

/// The program with the clamping of its indices written out, so that XLA cannot lose it. The same values by HLO's
/// semantics. XLA's algebraic simplifier merges a dynamic-slice of a dynamic-slice into one and clamps the sum of the
/// starts instead of each (openxla/xla#49121); a change of placement is such a slice, and so is a gather or a scatter
/// of one index, which the compiler turns into one.
/// - Starts of dynamic-slice and dynamic-update-slice: min(max(start, 0), size - part), 0 where the part is the whole.
/// - Gathers that may have one index on a device: the indices alike.
/// - Such scatters, where indices out of range are dropped: a barrier in front of what is written to, so that no slice
///   is merged with that of the scatter.
/// New instructions take over the shardings of what they stand for. `num_devices`: over which the program is divided.
hlo::Module explicit_bounds(const hlo::Module& module, int64_t num_devices);

}  // namespace alpa::passes
