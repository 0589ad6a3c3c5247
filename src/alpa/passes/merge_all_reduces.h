#pragma once

#include "alpa/hlo/module.h"

namespace alpa::passes {

/// Adds before it sums over devices: where all-reduced values of the same groups meet in additions and subtractions,
/// by way of linear operations (linear.h) and nowhere else, what each device has is added up and all-reduced once.
/// Where each device keeps the same part of all of them, the part is taken of the sum. Floating sums are made in
/// another order. A tied embedding, whose gradient XLA's partitioner reduces once a use, is reduced once.
hlo::Module merge_all_reduces(const hlo::Module& module, int64_t num_devices);

}  // namespace alpa::passes
