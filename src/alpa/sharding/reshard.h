#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "alpa/mesh/logical_mesh.h"
#include "alpa/sharding/spec.h"
#include "alpa/tensor/shape.h"

namespace alpa::sharding {

/// One elementary change of a sharding: what the partitioner does with one instruction and no more.
struct ReshardStep {
  enum class Kind {
    kSlice,              ///< An axis that held copies divides a dim as its minor-most: no communication.
    kAllGather,          ///< The minor-most axes of a dim are given up.
    kAllToAll,           ///< The minor-most axis of one dim becomes the minor-most of another.
    kCollectivePermute,  ///< The tiles keep their sizes and change their devices.
  };
  Kind kind = Kind::kSlice;
  std::vector<int> axes;  ///< That take part.
  ShardingSpec result;
};

std::string_view name(ReshardStep::Kind kind);

/// Bytes of the collective: the larger of operand and result on one device; 0 for a slice.
int64_t step_bytes(const tensor::Shape& shape, const ShardingSpec& before, const ReshardStep& step,
                   const mesh::LogicalMesh& mesh);

/// Seconds of one step that moves `bytes` over `axes`.
using StepCost = std::function<double(ReshardStep::Kind kind, int64_t bytes, const std::vector<int>& axes)>;

/// All steps that lead from one spec to another in one instruction, in a fixed order; nothing is ever padded.
std::vector<ReshardStep> next_steps(const tensor::Shape& shape, const ShardingSpec& from, const mesh::LogicalMesh& mesh);

/// A cheapest way from a spec to another, as the last step to each spec and its summed cost.
class ReshardPaths {
 public:
  /// Dijkstra's search from `from` over every spec of the shape. Ties: fewer steps, then order of `next_steps`.
  ReshardPaths(const tensor::Shape& shape, const ShardingSpec& from, const mesh::LogicalMesh& mesh, const StepCost& cost);

  /// Seconds to `to`. Errors: InternalError if it pads the shape.
  double seconds(const ShardingSpec& to) const;
  /// Steps to `to`, in order; none if it is the start.
  std::vector<ReshardStep> steps(const ShardingSpec& to) const;

 private:
  struct Reached {
    ShardingSpec spec;
    double seconds = 0;
    int count = 0;
    int previous = -1;
    ReshardStep step;
    bool settled = false;
  };
  int find(const ShardingSpec& spec) const;

  std::vector<Reached> reached_;
};

}  // namespace alpa::sharding
