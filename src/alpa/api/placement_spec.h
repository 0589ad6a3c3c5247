#pragma once

#include <cstdint>
#include <string>

#include "alpa/mesh/logical_mesh.h"
#include "alpa/sharding/spec.h"
#include "alpa/tensor/shape.h"

namespace alpa {

/// What an array of a step is and where it lies.
struct PlacementSpec {
  std::string name;  ///< Key path: "args[0].params.w[1]", "result[0].step".
  tensor::Shape shape;
  sharding::ShardingSpec spec;
  mesh::LogicalMesh mesh;
  /// Of a batch that is cut: the parts, each of `shape`; else 1.
  int64_t micro_batches = 1;

  /// Same shape in the same place, whatever the names.
  bool operator==(const PlacementSpec& other) const {
    return shape == other.shape && spec == other.spec && mesh == other.mesh && micro_batches == other.micro_batches;
  }
  /// "f32[64,256] (x,None)"; of a batch that is cut into 4 "4 x f32[16,256] (x,None)".
  std::string to_string() const;
};

}  // namespace alpa
