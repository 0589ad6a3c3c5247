#pragma once

#include <cstdint>

#include "alpa/hlo/independent_groups.h"
#include "alpa/hlo/module.h"

namespace alpa::passes {

/// Makes one collective of several of the same kind, groups, reduction and element type, none of which waits for
/// another, in each computation: all-reduces, all-gathers and reduce-scatters get several operands, all-to-alls one
/// flat array. All-gathers and reduce-scatters along different dims are made to work along a new first one.
/// `limit_bytes`: of one combined collective, as hlo::combined_weight counts.
hlo::Module combine_collectives(const hlo::Module& module, int64_t num_devices,
                                int64_t limit_bytes = hlo::kCombinedBytes);

}  // namespace alpa::passes
