#include "alpa/cost/reshard_model.h"

#include "alpa/base/error.h"

namespace alpa::cost {

hlo::Opcode opcode_of(sharding::ReshardStep::Kind kind) {
  using Kind = sharding::ReshardStep::Kind;
  switch (kind) {
    case Kind::kSlice: return hlo::Opcode::kCopy;
    case Kind::kAllGather: return hlo::Opcode::kAllGather;
    case Kind::kAllToAll: return hlo::Opcode::kAllToAll;
    case Kind::kCollectivePermute: return hlo::Opcode::kCollectivePermute;
  }
  raise<InternalError>("cost", "unknown reshard step {}", static_cast<int>(kind));
}

double ReshardModel::seconds(const tensor::Shape& shape, const sharding::ShardingSpec& from,
                             const sharding::ShardingSpec& to) {
  if (from == to) return 0;
  sharding::ReshardGraph& ways = graph(shape);
  return ways.seconds_from(ways.index(from))[static_cast<size_t>(ways.index(to))];
}

std::vector<sharding::ReshardStep> ReshardModel::steps(const tensor::Shape& shape, const sharding::ShardingSpec& from,
                                                       const sharding::ShardingSpec& to) {
  if (from == to) return {};
  sharding::ReshardGraph& ways = graph(shape);
  return ways.steps(ways.index(from), ways.index(to));
}

sharding::ReshardGraph& ReshardModel::graph(const tensor::Shape& shape) {
  const auto key = std::pair(tensor::bit_width(shape.dtype), shape.dims);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  const auto cost = [this](sharding::ReshardStep::Kind kind, int64_t bytes, const std::vector<int>& axes) {
    return collectives_.seconds(opcode_of(kind), bytes, axes);
  };
  return known_.emplace(key, sharding::ReshardGraph(shape, collectives_.logical_mesh(), cost)).first->second;
}

}  // namespace alpa::cost
