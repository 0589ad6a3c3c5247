#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "alpa/pjrt/handles.h"
#include "alpa/pjrt/plugin.h"

namespace alpa::pjrt {

struct ClientState;

/// Memory of a device as its allocator counts it, in bytes; what it does not count is empty.
struct DeviceMemoryStats {
  int64_t bytes_in_use = 0;
  std::optional<int64_t> peak_bytes_in_use = std::nullopt;
  std::optional<int64_t> bytes_limit = std::nullopt;
};

/// A device of this process; it lives as long as a handle of its client.
class Device {
 public:
  /// The plug-in's number of it, the same in all processes; device assignments use it.
  int id() const { return id_; }
  /// Its place in `Client::devices()`.
  int index() const { return index_; }
  const std::string& kind() const { return kind_; }
  const std::string& debug_string() const { return debug_string_; }
  /// Empty if the plug-in does not count.
  std::optional<DeviceMemoryStats> memory_stats() const;

  DeviceHandle* handle() const { return handle_; }

 private:
  friend class Client;
  const ApiTable* api_ = nullptr;
  DeviceHandle* handle_ = nullptr;
  int id_ = 0;
  int index_ = 0;
  std::string kind_;
  std::string debug_string_;
};

struct ClientOptions {
  /// Number of virtual devices of a CPU plug-in; not sent if empty.
  std::optional<int> cpu_device_count = std::nullopt;
  /// Further options of the plug-in, by its names; an unknown one is its error.
  std::map<std::string, std::variant<bool, int64_t, float, std::string>> plugin_options = {};
};

/// A plug-in's client: the devices of this process and their memory. Copies share it; buffers and executables keep it
/// alive.
class Client {
 public:
  /// Errors: PluginError with the plug-in's text; InvalidArgumentError if a device count is below 1.
  static Client create(const Plugin& plugin, const ClientOptions& options = {});

  const Plugin& plugin() const;
  /// The devices that this process can use, by index.
  std::span<const Device> devices() const;
  /// "cpu", "cuda".
  const std::string& platform_name() const;
  const std::string& platform_version() const;
  bool is_cpu() const { return platform_name() == "cpu"; }

  const std::shared_ptr<const ClientState>& state() const { return state_; }

 private:
  std::shared_ptr<const ClientState> state_;
};

}  // namespace alpa::pjrt
