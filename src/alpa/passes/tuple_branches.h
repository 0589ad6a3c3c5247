#pragma once

#include "alpa/hlo/module.h"

namespace alpa::passes {

/// Gives every conditional tuples: arrays that a branch takes or gives are wrapped into tuples of one. XLA does so
/// itself before it partitions, but leaves the new tuples without a sharding, so that propagation would choose one.
/// `module`: calls inlined, so that each branch has one conditional.
hlo::Module tuple_branches(const hlo::Module& module);

}  // namespace alpa::passes
