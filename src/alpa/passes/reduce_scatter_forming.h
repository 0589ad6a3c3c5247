#pragma once

#include "alpa/hlo/module.h"

namespace alpa::passes {

/// Makes reduce-scatters where each device keeps but a part of an all-reduced value. Every use of the all-reduce must
/// lead through moves and unary operations to dynamic slices of one and the same part, whose offsets are worked out for
/// each device (partition_values.h). Then
/// - dims whose part is the same over a group are sliced before the reduction;
/// - one dim that the group divides among its members makes a reduce-scatter, its groups in the order of the parts;
/// - where several members keep the same part, a reduce-scatter among those of different parts is followed by an
///   all-reduce of the part among those that keep it.
/// All else is left alone.
hlo::Module reduce_scatter_forming(const hlo::Module& module, int64_t num_devices);

}  // namespace alpa::passes
