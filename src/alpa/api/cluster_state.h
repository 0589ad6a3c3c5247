#pragma once

#include <mutex>
#include <vector>

#include "alpa/mesh/cluster.h"
#include "alpa/pjrt/client.h"
#include "alpa/pjrt/event.h"
#include "alpa/runtime/array/live_arrays.h"

namespace alpa::api {

/// The initialized cluster.
struct ClusterState {
  pjrt::Client client;
  mesh::ClusterSpec spec;
  int64_t num_devices = 0;

  /// Runs `launch`, which gives the events of its run, after all runs before it are done where runs must not overlap:
  /// the CPU plug-ins' threads are shared between devices, and two runs with collectives under way can wait for each
  /// other.
  template <typename Launch>
  void run(Launch&& launch) {
    const std::lock_guard lock(turn_);
    if (client.is_cpu()) finish();
    under_way_ = launch();
  }

  /// Waits for the last run. Errors: what that run met.
  void sync() {
    const std::lock_guard lock(turn_);
    finish();
  }

  /// Those on its devices, which shutdown releases.
  runtime::LiveArrays arrays;

 private:
  void finish() {
    const std::vector<pjrt::Event> events = std::move(under_way_);
    under_way_.clear();
    for (const pjrt::Event& event : events) event.await();
  }

  std::mutex turn_;
  std::vector<pjrt::Event> under_way_;
};

}  // namespace alpa::api
