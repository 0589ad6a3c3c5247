#pragma once

#include <cstdint>

#include "alpa/solver/graph.h"
#include "alpa/solver/memory_rows.h"
#include "alpa/solver/mrf.h"

namespace alpa::solver {

/// Reductions that the rows allow: a vertex that lives in no row counts as using no memory; a strategy that alone
/// passes the limit goes, and so does one that another beats in cost and, at every row, in usage. Returns whether the
/// graph changed; `mrf` and `rows` are then out of date.
bool reduce_by_memory(Graph& graph, const Mrf& mrf, const MemoryRows& rows, int64_t limit);

}  // namespace alpa::solver
