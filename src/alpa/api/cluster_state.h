#pragma once

#include <mutex>
#include <vector>

#include "alpa/mesh/cluster.h"
#include "alpa/pjrt/client.h"
#include "alpa/runtime/array/distributed_array.h"

namespace alpa::api {

/// The initialized cluster.
struct ClusterState {
  pjrt::Client client;
  mesh::ClusterSpec spec;
  int64_t num_devices = 0;

  /// Arrays on its devices, so that shutdown can release them.
  void keep(const std::shared_ptr<runtime::DistributedArray>& array);
  void release_arrays();

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<runtime::DistributedArray>> arrays_;
  size_t sweep_at_ = 1024;
};

}  // namespace alpa::api
