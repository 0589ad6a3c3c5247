#pragma once

#include "alpa/solver/graph.h"

namespace alpa::solver {

/// Minimises vertices of degree 0, 1 and 2 out of the graph, where their strategy does not change the memory in use.
///
/// Degree 1: c_u(s) += min_t [c_v(t) + E(s,t)]. Degree 2: a table min_t [c_v(t) + E(s,t) + F(t,r)] joins the two
/// neighbours, where it is not much larger than the tables it replaces. Returns whether a vertex went.
bool eliminate_low_degree(Graph& graph);

}  // namespace alpa::solver
