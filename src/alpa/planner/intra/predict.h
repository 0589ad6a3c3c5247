#pragma once

#include <map>
#include <string>

#include "alpa/cost/reshard_model.h"
#include "alpa/plan/plan.h"
#include "alpa/planner/intra/intra.h"

namespace alpa::planner {

/// What a plan says of each instruction, and what it will communicate: fills ops, operands, collectives,
/// communication_seconds, memory and objective of a plan from an assignment. A change of placement of a value for
/// several uses in one computation is made, and counted, once. Collectives are counted as the passes leave them
/// (predicted_program.h); their seconds are those of each by itself. Memory is what the
/// compiler will give the program that the collective passes leave (device_memory.h).
void fill_plan(const IntraRequest& request, const Assignment& assignment, plan::Plan& plan);

}  // namespace alpa::planner
