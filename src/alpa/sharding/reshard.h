#pragma once

#include <cstdint>
#include <functional>
#include <map>
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
std::vector<ReshardStep> next_steps(const tensor::Shape& shape, const ShardingSpec& from,
                                    const mesh::LogicalMesh& mesh);

/// Every spec of a shape that pads nothing, and the steps between them: cheapest ways by Dijkstra's search, remembered.
/// Ties: fewer steps, then the order of `next_steps`.
class ReshardGraph {
 public:
  ReshardGraph(const tensor::Shape& shape, const mesh::LogicalMesh& mesh, const StepCost& cost);

  /// Errors: InternalError if the spec pads the shape or has another rank.
  int index(const ShardingSpec& spec) const;
  /// Seconds from a spec to each, by index.
  const std::vector<double>& seconds_from(int from);
  /// Steps from one spec to another, in order; none if they are the same.
  std::vector<ReshardStep> steps(int from, int to);

 private:
  struct Edge {
    int to = 0;
    double seconds = 0;
    ReshardStep step;
  };
  struct Ways {
    std::vector<double> seconds;
    std::vector<int> previous;       ///< Spec before, or -1.
    std::vector<int> previous_edge;  ///< Index into its edges.
  };
  const Ways& ways_from(int from);

  std::map<ShardingSpec, int> index_;
  std::vector<std::vector<Edge>> edges_;
  std::vector<Ways> ways_;
};

}  // namespace alpa::sharding
