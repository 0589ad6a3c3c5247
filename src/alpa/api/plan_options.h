#pragma once

#include "alpa/api/cluster_state.h"
#include "alpa/api/method.h"
#include "alpa/compiler/plan_program.h"

namespace alpa::api {

/// A method in the planner's words, for all devices of a cluster. Errors: InvalidArgumentError for an option that makes
/// no sense whatever the program is.
compiler::PlanOptions plan_options(const ParallelMethod& method, const ClusterState& cluster);

}  // namespace alpa::api
