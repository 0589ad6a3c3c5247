#pragma once

#include "alpa/solver/graph.h"

namespace alpa::solver {

/// Folds one end of a link into the other where the table is functional; both ends must be supported.
///
/// With f(s) the one finite partner in v of strategy s of u: c_u(s) += c_v(f(s)) + E(s, f(s)); the other links of v are
/// re-indexed by f and go to u. Where the table is functional both ways the vertex of smaller degree is folded, or hubs
/// would be copied time and again. Returns whether it did.
bool contract_if_functional(Graph& graph, int32_t l);

}  // namespace alpa::solver
