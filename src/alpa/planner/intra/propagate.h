#pragma once

#include <vector>

#include "alpa/planner/intra/problem_builder.h"

namespace alpa::planner {

/// A choice by problem node that carries the placements of the inputs forward through the program: each operation takes
/// the strategy whose operands need the fewest collectives, then the cheapest, then the first. From a divided batch and
/// whole parameters it makes plain data parallelism. Loop carries take the placement that the loop body gives them
/// where that is free. Inputs without a pin are whole.
std::vector<int32_t> propagate(const IntraRequest& request, const IntraProblem& problem, cost::ReshardModel& reshard);

}  // namespace alpa::planner
