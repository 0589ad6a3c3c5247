#pragma once

#include "alpa/solver/elimination.h"
#include "alpa/solver/graph.h"
#include "alpa/solver/mrf.h"

namespace alpa::solver {

/// The whole field, without its constant.
PairwiseProblem pairwise_problem(const Mrf& mrf);

/// Solves by elimination each component of the field that the budget allows and in which no strategy changes the memory
/// in use, and fixes its vertices in the graph to a best labelling. Returns how many were solved; marks the graph
/// infeasible where a component has no allowed labelling.
int64_t solve_components(Graph& graph, const Mrf& mrf, const EliminationBudget& budget, int threads);

}  // namespace alpa::solver
