#pragma once

#include <cstdint>

#include "alpa/hlo/module.h"

namespace alpa::passes {

/// Bytes of one combined collective, at most, as found in a program: beyond, one more costs next to nothing, while all
/// that is combined must be there at once.
inline constexpr int64_t kCombinedBytes = int64_t{32} << 20;

/// Makes one collective of several of the same kind, groups, reduction and element type, none of which waits for
/// another, in each computation: all-reduces, all-gathers and reduce-scatters get several operands, all-to-alls one
/// flat array. All-gathers and reduce-scatters along different dims are made to work along a new first one.
hlo::Module combine_collectives(const hlo::Module& module, int64_t num_devices, int64_t limit_bytes = kCombinedBytes);

}  // namespace alpa::passes
