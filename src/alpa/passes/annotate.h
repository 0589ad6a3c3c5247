#pragma once

#include "alpa/cost/reshard_model.h"
#include "alpa/hlo/value_graph.h"
#include "alpa/plan/plan.h"

namespace alpa::passes {

/// The program with a sharding on every instruction, as the plan says. A change of placement becomes one `copy` a step,
/// made once for all uses in a computation; what costs nothing to make (iota, scalars made larger) is made anew in each
/// placement that is wanted. Tuples are built anew around the placed arrays.
/// `module`: calls inlined, the one that the plan was made for. Errors: InvalidArgumentError that names the instruction
/// that the plan lacks or places with the wrong rank.
hlo::Module annotate(const hlo::Module& module, const hlo::ValueGraph& graph, const plan::Plan& plan,
                     cost::ReshardModel& reshard);

}  // namespace alpa::passes
