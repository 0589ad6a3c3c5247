#include "alpa/api/cluster.h"

#include <atomic>
#include <mutex>

#include "alpa/api/cluster_state.h"
#include "alpa/api/eager.h"
#include "alpa/base/error.h"
#include "alpa/pjrt/plugin.h"

namespace alpa {
namespace {

constexpr int kMostDevices = 4096;  // A CPU plug-in would make any number, and take minutes.

}  // namespace

namespace api {
namespace {

// The one cluster of the process, and the generation of what is compiled for it.
struct Current {
  std::mutex mutex;
  std::shared_ptr<ClusterState> state;
  std::atomic<uint64_t> generation{0};
};

Current& current() {
  static Current instance;
  return instance;
}

}  // namespace

void ClusterState::admit(const std::shared_ptr<Tenant>& tenant) {
  const std::lock_guard lock(turn_);
  std::erase_if(tenants_, [](const auto& weak) { return weak.expired(); });
  tenants_.push_back(tenant);
}

void ClusterState::end() {
  const std::lock_guard lock(turn_);
  try {
    finish();
  } catch (const Error&) {
    // Nobody waited for that run, so nobody asks how it went.
  }
  for (const std::weak_ptr<Tenant>& weak : tenants_) {
    if (const auto tenant = weak.lock()) tenant->leave();
  }
  tenants_.clear();
  arrays.release();
}

std::shared_ptr<ClusterState> cluster() {
  const std::lock_guard lock(current().mutex);
  require<InvalidArgumentError>(current().state != nullptr, "api", "no cluster: call alpa::init first");
  return current().state;
}

uint64_t cache_generation() { return current().generation.load(); }

}  // namespace api

void init(const std::string& cluster, const InitOptions& options) {
  const std::lock_guard lock(api::current().mutex);
  if (api::current().state != nullptr) return;
  require<UnsupportedError>(cluster != "ray", "init",
                            "clusters of many machines are not part of this version: use \"local\"");
  require<InvalidArgumentError>(cluster == "local", "init", "unknown cluster \"{}\": use \"local\"", cluster);
  require<InvalidArgumentError>(
      !options.num_devices || (*options.num_devices >= 1 && *options.num_devices <= kMostDevices), "init",
      "num_devices is {}: from 1 to {}", options.num_devices.value_or(0), kMostDevices);
  const pjrt::Plugin plugin = pjrt::Plugin::load(pjrt::find_plugin(options.plugin, read_environment()));
  auto state = std::make_shared<api::ClusterState>();
  state->client = pjrt::Client::create(plugin, {.cpu_device_count = options.num_devices.value_or(8)});
  const auto there = static_cast<int64_t>(state->client.devices().size());
  state->num_devices = options.num_devices.value_or(static_cast<int>(there));
  require<InvalidArgumentError>(state->num_devices <= there, "init", "{} devices asked for, the plug-in has {}",
                                state->num_devices, there);
  state->spec = mesh::local_cpu(state->num_devices);
  frontend::set_evaluator(api::make_evaluator(state));
  api::current().state = std::move(state);
  ++api::current().generation;
}

void shutdown() {
  std::shared_ptr<api::ClusterState> state;
  {
    const std::lock_guard lock(api::current().mutex);
    require<InvalidArgumentError>(api::current().state != nullptr, "shutdown", "no cluster: init was not called");
    state = std::move(api::current().state);
    api::current().state = nullptr;
    ++api::current().generation;
  }
  frontend::set_evaluator(nullptr);
  state->end();
}

bool is_initialized() {
  const std::lock_guard lock(api::current().mutex);
  return api::current().state != nullptr;
}

int64_t num_devices() { return api::cluster()->num_devices; }

void clear_executable_cache() { ++api::current().generation; }

}  // namespace alpa
