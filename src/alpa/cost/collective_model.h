#pragma once

#include <cstdint>
#include <vector>

#include "alpa/hlo/opcode.h"
#include "alpa/mesh/cluster.h"
#include "alpa/mesh/logical_mesh.h"

namespace alpa::cost {

/// Seconds of collectives on a logical mesh laid over a cluster (ring algorithms, alpha-beta).
/// With n = devices of the group, b = bytes (the larger of operand and result on one device), a = latency, w =
/// bandwidth:
///   all-reduce           2 (n-1) (a + b / (n w))
///   all-gather, reduce-scatter, all-to-all   (n-1) (a + b / (n w))
///   collective-permute   a + b / w
/// A group over axes that leave a host takes the link between hosts.
/// Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005.
class CollectiveModel {
 public:
  CollectiveModel(mesh::ClusterSpec cluster, mesh::LogicalMesh mesh);

  /// Infinite for a kind that must not be used. Errors: UnsupportedError for an opcode that is none of these. Units:
  /// bytes in, seconds out.
  double seconds(hlo::Opcode kind, int64_t bytes, const std::vector<int>& axes) const;

  /// The same cluster with links that cost bytes only, and next to nothing for each call: of ways that move as many
  /// bytes, the one with fewest calls costs least.
  CollectiveModel by_bytes() const;
  /// The same with kinds of collectives that must not be used.
  CollectiveModel without(std::vector<hlo::Opcode> kinds) const;

  const mesh::ClusterSpec& cluster() const { return cluster_; }
  const mesh::LogicalMesh& logical_mesh() const { return mesh_; }

 private:
  mesh::ClusterSpec cluster_;
  mesh::LogicalMesh mesh_;
  std::vector<hlo::Opcode> forbidden_;
  double call_seconds_ = 0;
};

}  // namespace alpa::cost
