#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "alpa/mesh/logical_mesh.h"

namespace alpa::mesh {

/// One device. Units: FLOP/s, bytes, bytes/s.
struct DeviceSpec {
  std::map<std::string, double> flops_per_second;  ///< By XLA's dtype name; "default" for those not named.
  double memory_bytes = 0;
  double memory_bandwidth = 0;

  /// FLOP/s for an element type, "default" if it is not named.
  double flops_for(std::string_view dtype) const;
};

/// What connects devices at one level. Units: seconds, bytes/s a device and direction.
struct LinkSpec {
  double latency = 0;
  double bandwidth = 0;
};

/// A cluster to plan for: `hosts` times `devices_per_host` equal devices; links inside a host and between hosts.
struct ClusterSpec {
  std::string name;
  int64_t hosts = 1;
  int64_t devices_per_host = 1;
  DeviceSpec device;
  LinkSpec intra_host;
  LinkSpec inter_host;  ///< Bandwidth a device: a host's network divided by its devices.
};

/// Names of the ready descriptions: local-cpu, p3.16xlarge, a100-dgx, h100-dgx, tpu-v5e.
std::vector<std::string> ready_clusters();

/// A ready description by name, or one from a JSON file of the form that `to_json` writes.
/// Errors: InvalidArgumentError that names the file and the field, or lists the names.
ClusterSpec load_cluster(const std::string& name_or_file);

/// The virtual devices of this machine: each has its share of the cores' FLOP/s and of the memory.
ClusterSpec local_cpu(int64_t num_devices);

std::string to_json(const ClusterSpec& cluster);
ClusterSpec cluster_from_json(std::string_view text, std::string_view source);

/// The link that a collective over these axes of a mesh is bound by: a group that leaves a host uses the link between
/// hosts. Row-major over devices, hosts outermost.
LinkSpec link_of(const ClusterSpec& cluster, const LogicalMesh& mesh, const std::vector<int>& axes);

}  // namespace alpa::mesh
