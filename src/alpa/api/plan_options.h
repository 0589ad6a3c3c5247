#pragma once

#include "alpa/api/cluster_state.h"
#include "alpa/api/executable.h"
#include "alpa/api/method.h"
#include "alpa/compiler/plan_program.h"

namespace alpa::api {

/// A method in the planner's words, for a step on all devices of a cluster. Errors: InvalidArgumentError for an option
/// that makes no sense whatever the program is, and those of ParallelMethod::fixed_placements.
compiler::PlanOptions plan_options(const ParallelMethod& method, const Step& step, const ClusterState& cluster);

}  // namespace alpa::api
