#pragma once

#include <vector>

#include "alpa/solver/cost.h"
#include "alpa/solver/dual_bound.h"
#include "alpa/solver/graph.h"
#include "alpa/solver/mrf.h"

namespace alpa::solver {

/// Drops every strategy whose bound, were it taken, reaches `limit`: it cannot be part of a better choice. Where
/// nothing is left of a node the graph becomes infeasible, that is, no choice below the limit exists. Returns the
/// number dropped.
int64_t fix_by_bound(Graph& graph, const Mrf& mrf, const std::vector<std::vector<Cost>>& forced, Cost limit);

/// Forbids every pair of strategies of an edge whose bound reaches `limit`, by one more sweep of the dual. `rebate` is
/// taken off the sweep's bounds. Returns the number forbidden.
int64_t fix_pairs(Graph& graph, const Mrf& mrf, DualBound& dual, Cost rebate, Cost limit);

/// The best choice so far as labels of the field; -1 where its strategy was dropped.
std::vector<int32_t> labels_of(const Graph& graph, const Mrf& mrf, const std::vector<int32_t>& choice);

}  // namespace alpa::solver
