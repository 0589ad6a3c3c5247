#pragma once

#include "alpa/solver/graph.h"

namespace alpa::solver {

/// Exact reductions to a fixpoint: some best choice of the old graph extends from one of the new graph.
///
/// 1. A strategy without a finite partner across a link goes (arc consistency).
/// 2. A separable table, E(s,t) = f(s) + g(t), moves into the two unaries.
/// 3. Where each strategy of u leaves one strategy of v, v is folded into u (see contraction.h).
/// 4. A strategy that another one beats whatever the neighbours do goes (see dominance.h).
/// 5. Vertices of degree 0, 1, 2 without memory are minimised out (see low_degree.h).
///
/// Sets graph.infeasible() when no allowed choice exists and the reductions see it.
void presolve(Graph& graph);

/// Steps 1 to 3 alone, for the links that changed.
void propagate(Graph& graph);

}  // namespace alpa::solver
