#pragma once

#include "alpa/hlo/module.h"

namespace alpa::passes {

/// Calls that ask for the placement of an array become copies that ask for it (hlo/sharding_constraint.h): the
/// library's own and those of exported programs ("Sharding", as JAX's with_sharding_constraint leaves it). Such a call
/// without a placement goes away. Errors: InvalidArgumentError for a call that is no identity; UnsupportedError for a
/// placement in a form that is not read here.
hlo::Module sharding_constraints(const hlo::Module& module);

/// The program without such copies, for one device.
hlo::Module without_sharding_constraints(const hlo::Module& module);

}  // namespace alpa::passes
