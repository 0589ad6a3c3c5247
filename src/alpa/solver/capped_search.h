#pragma once

#include "alpa/solver/run.h"

namespace alpa::solver {

/// Minimises the cost under the usage limit: reduction, then rounds of Lagrangian bound, priced block search and
/// fixing, then a MIP whose usage rows are added as they are violated. The run's best choice and bound are updated.
/// Returns whether it is proved that no choice fits.
bool search_capped(Run& run);

}  // namespace alpa::solver
