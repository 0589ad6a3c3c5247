#pragma once

#include <vector>

#include "alpa/solver/graph.h"

namespace alpa::solver {

/// Drops each strategy d that some strategy s of its vertex beats whatever the neighbours choose:
/// c(d) - c(s) >= sum over links of max over t with E(d,t) finite of E(s,t) - E(d,t).
///
/// A vertex whose strategy changes the memory in use also needs s to use no more than d: `profiles` holds for each
/// vertex lists of usages by strategy; without it such vertices are left alone. Returns whether a strategy went.
/// Vertices that did not change since they were last compared are skipped.
/// **Cost**: O(k^2 · entries of the vertex's links); vertices for which this is too much are skipped.
using UsageProfiles = std::vector<std::vector<std::vector<int64_t>>>;
bool drop_dominated(Graph& graph, const UsageProfiles* profiles = nullptr);

}  // namespace alpa::solver
