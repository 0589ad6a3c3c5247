#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "alpa/mesh/cluster.h"
#include "alpa/pjrt/client.h"
#include "alpa/pjrt/event.h"
#include "alpa/runtime/array/live_arrays.h"

namespace alpa::api {

/// What holds on to devices until their cluster ends.
struct Tenant {
  virtual ~Tenant() = default;
  /// Lets them go.
  virtual void leave() = 0;
};

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

  /// Those on its devices.
  runtime::LiveArrays arrays;

  void admit(const std::shared_ptr<Tenant>& tenant);
  /// Waits for the last run, then frees what arrays and tenants hold.
  void end();

 private:
  void finish() {
    const std::vector<pjrt::Event> events = std::move(under_way_);
    under_way_.clear();
    for (const pjrt::Event& event : events) event.await();
  }

  std::mutex turn_;
  std::vector<pjrt::Event> under_way_;
  std::vector<std::weak_ptr<Tenant>> tenants_;
};

}  // namespace alpa::api
