#include "alpa/pjrt/client.h"

#include <vector>

#include "alpa/base/error.h"
#include "alpa/pjrt/c_api.h"

namespace alpa::pjrt {
namespace {

/// `options` in the form of the C border; points into `options`.
std::vector<PJRT_NamedValue> named_options(const ClientOptions& options) {
  std::vector<PJRT_NamedValue> values;
  const auto add = [&](std::string_view name, PJRT_NamedValue_Type type) -> PJRT_NamedValue& {
    ALPA_PJRT_ARGS(PJRT_NamedValue, value);
    value.name = name.data();
    value.name_size = name.size();
    value.type = type;
    value.value_size = 1;
    return values.emplace_back(value);
  };
  if (options.cpu_device_count) {
    add("cpu_device_count", PJRT_NamedValue_kInt64).int64_value = *options.cpu_device_count;
  }
  for (const auto& [name, value] : options.plugin_options) {
    if (const auto* flag = std::get_if<bool>(&value)) {
      add(name, PJRT_NamedValue_kBool).bool_value = *flag;
    } else if (const auto* number = std::get_if<int64_t>(&value)) {
      add(name, PJRT_NamedValue_kInt64).int64_value = *number;
    } else if (const auto* real = std::get_if<float>(&value)) {
      add(name, PJRT_NamedValue_kFloat).float_value = *real;
    } else {
      const std::string& string = std::get<std::string>(value);
      PJRT_NamedValue& named = add(name, PJRT_NamedValue_kString);
      named.string_value = string.c_str();
      named.value_size = string.size();
    }
  }
  return values;
}

struct DeviceText {
  int id;
  std::string kind;
  std::string debug_string;
};

DeviceText describe(const PJRT_Api* api, PJRT_Device* device) {
  ALPA_PJRT_ARGS(PJRT_Device_GetDescription_Args, description);
  description.device = device;
  ALPA_PJRT_CALL(api, PJRT_Device_GetDescription, &description);
  ALPA_PJRT_ARGS(PJRT_DeviceDescription_Id_Args, id);
  id.device_description = description.device_description;
  ALPA_PJRT_CALL(api, PJRT_DeviceDescription_Id, &id);
  ALPA_PJRT_ARGS(PJRT_DeviceDescription_Kind_Args, kind);
  kind.device_description = description.device_description;
  ALPA_PJRT_CALL(api, PJRT_DeviceDescription_Kind, &kind);
  ALPA_PJRT_ARGS(PJRT_DeviceDescription_DebugString_Args, debug);
  debug.device_description = description.device_description;
  ALPA_PJRT_CALL(api, PJRT_DeviceDescription_DebugString, &debug);
  return {id.id, std::string(text(kind.device_kind, kind.device_kind_size)),
          std::string(text(debug.debug_string, debug.debug_string_size))};
}

PJRT_Client* create_client(const PJRT_Api* api, const ClientOptions& options) {
  const std::vector<PJRT_NamedValue> values = named_options(options);
  ALPA_PJRT_ARGS(PJRT_Client_Create_Args, args);
  args.create_options = values.data();
  args.num_options = values.size();
  ALPA_PJRT_CALL(api, PJRT_Client_Create, &args);
  return args.client;
}

void read_platform(ClientState& state) {
  ALPA_PJRT_ARGS(PJRT_Client_PlatformName_Args, name);
  name.client = state.client;
  ALPA_PJRT_CALL(state.api, PJRT_Client_PlatformName, &name);
  state.platform_name = text(name.platform_name, name.platform_name_size);
  ALPA_PJRT_ARGS(PJRT_Client_PlatformVersion_Args, version);
  version.client = state.client;
  ALPA_PJRT_CALL(state.api, PJRT_Client_PlatformVersion, &version);
  state.platform_version = text(version.platform_version, version.platform_version_size);
}

}  // namespace

ClientState::ClientState(Plugin owner) : plugin(std::move(owner)), api(plugin.state().api) {}

ClientState::~ClientState() {
  if (client == nullptr) return;
  ALPA_PJRT_ARGS(PJRT_Client_Destroy_Args, args);
  args.client = client;
  ignore(api, api->PJRT_Client_Destroy(&args));
}

Client Client::create(const Plugin& plugin, const ClientOptions& options) {
  require<InvalidArgumentError>(options.cpu_device_count.value_or(1) >= 1, "client",
                                "{} devices asked for: ask for at least 1", options.cpu_device_count.value_or(1));
  auto state = std::make_shared<ClientState>(plugin);
  const PJRT_Api* api = state->api;
  state->client = create_client(api, options);
  read_platform(*state);
  ALPA_PJRT_ARGS(PJRT_Client_AddressableDevices_Args, devices);
  devices.client = state->client;
  ALPA_PJRT_CALL(api, PJRT_Client_AddressableDevices, &devices);
  for (size_t i = 0; i < devices.num_addressable_devices; ++i) {
    DeviceText described = describe(api, devices.addressable_devices[i]);
    Device& device = state->devices.emplace_back();
    device.api_ = opaque(api);
    device.handle_ = opaque(devices.addressable_devices[i]);
    device.id_ = described.id;
    device.index_ = static_cast<int>(i);
    device.kind_ = std::move(described.kind);
    device.debug_string_ = std::move(described.debug_string);
  }
  Client client;
  client.state_ = std::move(state);
  return client;
}

const Plugin& Client::plugin() const { return state_->plugin; }
std::span<const Device> Client::devices() const { return state_->devices; }
const std::string& Client::platform_name() const { return state_->platform_name; }
const std::string& Client::platform_version() const { return state_->platform_version; }

std::optional<DeviceMemoryStats> Device::memory_stats() const {
  const PJRT_Api* api = raw(api_);
  if (!ALPA_PJRT_HAS(api, PJRT_Device_MemoryStats)) return std::nullopt;
  ALPA_PJRT_ARGS(PJRT_Device_MemoryStats_Args, args);
  args.device = raw(handle_);
  if (PJRT_Error* error = api->PJRT_Device_MemoryStats(&args); error != nullptr) {
    ignore(api, error);
    return std::nullopt;
  }
  DeviceMemoryStats stats{.bytes_in_use = args.bytes_in_use};
  if (args.peak_bytes_in_use_is_set) stats.peak_bytes_in_use = args.peak_bytes_in_use;
  if (args.bytes_limit_is_set) stats.bytes_limit = args.bytes_limit;
  return stats;
}

}  // namespace alpa::pjrt
