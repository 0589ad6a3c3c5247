#pragma once

#include <map>
#include <memory>
#include <vector>

#include "alpa/cost/collective_model.h"
#include "alpa/hlo/opcode.h"
#include "alpa/sharding/reshard.h"

namespace alpa::cost {

/// The opcode that a step becomes in the partitioned program; `copy` for a slice.
hlo::Opcode opcode_of(sharding::ReshardStep::Kind kind);

/// Ways and seconds from spec to spec, remembered by shape.
class ReshardModel {
 public:
  explicit ReshardModel(const CollectiveModel& collectives) : collectives_(collectives) {}

  double seconds(const tensor::Shape& shape, const sharding::ShardingSpec& from, const sharding::ShardingSpec& to);
  std::vector<sharding::ReshardStep> steps(const tensor::Shape& shape, const sharding::ShardingSpec& from,
                                           const sharding::ShardingSpec& to);

 private:
  const sharding::ReshardPaths& paths(const tensor::Shape& shape, const sharding::ShardingSpec& from);

  const CollectiveModel& collectives_;
  std::map<std::tuple<int, std::vector<int64_t>, sharding::ShardingSpec>, sharding::ReshardPaths> known_;
};

}  // namespace alpa::cost
