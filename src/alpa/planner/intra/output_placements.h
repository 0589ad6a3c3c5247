#pragma once

#include <vector>

#include "alpa/cost/reshard_model.h"
#include "alpa/planner/intra/intra.h"

namespace alpa::planner {

/// A placement and the seconds to it from another; infinite if there is no way.
struct Nearest {
  sharding::ShardingSpec spec;
  double seconds = 0;
};

/// The placement of an array of `shape` that matches and is cheapest to get to from `from`; the first of equals.
/// Errors: InternalError if none matches.
Nearest nearest(const sharding::SpecPattern& pattern, const tensor::Shape& shape, const sharding::ShardingSpec& from,
                cost::ReshardModel& reshard);

/// Where each output of the program ends up: where the input lies that it feeds, as it is pinned, or where it is made.
std::vector<sharding::ShardingSpec> output_placements(const IntraRequest& request, const Assignment& assignment,
                                                      cost::ReshardModel& reshard);

}  // namespace alpa::planner
