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

  const mesh::LogicalMesh& logical_mesh() const { return collectives_.logical_mesh(); }

  /// The specs of a shape and the ways between them.
  sharding::ReshardGraph& graph(const tensor::Shape& shape);

 private:
  const CollectiveModel& collectives_;
  std::map<std::pair<int, std::vector<int64_t>>, sharding::ReshardGraph> known_;
};

}  // namespace alpa::cost
