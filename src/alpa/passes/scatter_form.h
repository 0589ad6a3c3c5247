#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "alpa/hlo/replica_groups.h"
#include "alpa/passes/sliced_part.h"

namespace alpa::passes {

/// How an all-reduce of which each device keeps a part is made smaller.
struct ScatterForm {
  /// First each device cuts this out of its own array: the same part for all of a group.
  Part before;
  /// Then a reduce-scatter along `dim`; nothing if all of a group keep the same part.
  std::optional<int64_t> dim;
  /// Parts of `dim` lie this many parts apart in `before` (1: next to each other), which then holds all between.
  int64_t stride = 1;
  hlo::ReplicaGroups scatter;  ///< In the order of the parts.
  hlo::ReplicaGroups reduce;   ///< An all-reduce of the part that comes last; empty: none.
};

/// Nothing if the parts are no even division of the array among the members of each group, along one dim.
std::optional<ScatterForm> scatter_form(const std::vector<int64_t>& whole, const Part& part,
                                        const hlo::ReplicaGroups& groups);

}  // namespace alpa::passes
