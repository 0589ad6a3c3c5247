#pragma once

#include <cstdint>
#include <vector>

#include "alpa/solver/elimination.h"

namespace alpa::solver {

/// For each step of a plan the first step whose tables are the same, number for number: itself where there is none.
///
/// Layers of a network are the same problem again and again. Their variables go in the same order, so each step
/// minimises the same tables as its like in another layer, and needs to be done only once. Tables are told apart by an
/// id: given by content to the problem's own, by step to those that come out of one. **Cost**: O(entries + steps log
/// steps).
std::vector<int32_t> find_repeats(const PairwiseProblem& problem, const EliminationPlan& plan);

}  // namespace alpa::solver
