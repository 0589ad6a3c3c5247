#pragma once

#include "alpa/compiler/program.h"
#include "alpa/plan/plan.h"

namespace alpa::compiler {

/// Refuses a plan that is not of this program or says two things of one array. Errors: InvalidArgumentError that names
/// the input or output.
void check_plan(const Program& program, const plan::Plan& plan);

/// Refuses a plan that divides an operation in a way that its rule does not give: only those are known to be computed
/// rightly. Errors: InvalidArgumentError that names the instruction and its placements.
void check_strategies(const Program& program, const plan::Plan& plan);

}  // namespace alpa::compiler
