#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace alpa {

struct InitOptions {
  /// Virtual devices of a CPU plug-in; elsewhere the first devices of the process. Empty: all (of a CPU: 8).
  std::optional<int> num_devices = std::nullopt;
  /// Path of a PJRT plug-in; empty: ALPA_PJRT_PLUGIN, then the installed wheels.
  std::optional<std::string> plugin = std::nullopt;
};

/// Gets the devices ready. "local": those of this process. A second call without `shutdown` does nothing.
/// Errors: PluginError; UnsupportedError for "ray", which is not part of this version.
void init(const std::string& cluster = "local", const InitOptions& options = {});

/// Ends what `init` began. Arrays on its devices are deleted, compiled functions compile anew after the next `init`.
/// Errors: InvalidArgumentError if there is nothing to end.
void shutdown();

bool is_initialized();

/// Devices of the initialized cluster. Errors: InvalidArgumentError that says to call init.
int64_t num_devices();

/// Forgets the compiled steps of all parallelized functions: the next calls compile anew. What a step holds is freed
/// when its function is called again or ends.
void clear_executable_cache();

namespace api {
struct ClusterState;
/// Errors: InvalidArgumentError that says to call init.
std::shared_ptr<ClusterState> cluster();
/// Grows with every init, shutdown and clear_executable_cache: what was compiled before is stale.
uint64_t cache_generation();
}  // namespace api

}  // namespace alpa
