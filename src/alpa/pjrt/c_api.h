#pragma once

// Private to this room: the C border. No header that other rooms include may include this one.

#include <pjrt_c_api.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alpa/pjrt/client.h"
#include "alpa/pjrt/handles.h"
#include "alpa/pjrt/plugin.h"
#include "alpa/tensor/dtype.h"

/// Declares `name`, a zeroed argument struct that says its own size.
#define ALPA_PJRT_ARGS(type, name) \
  type name{};                     \
  name.struct_size = type##_STRUCT_SIZE

/// True if the plug-in's table is long enough to hold `function` and it is there.
#define ALPA_PJRT_HAS(api, function) \
  ((api)->struct_size >= offsetof(PJRT_Api, function) + sizeof((api)->function) && (api)->function != nullptr)

/// Calls a function that returns an error.
/// Errors: PluginError and its kin, see `check`; PluginError if the plug-in's
/// table lacks the function.
#define ALPA_PJRT_CALL(api, function, args)                                                  \
  do {                                                                                       \
    if (!ALPA_PJRT_HAS(api, function)) ::alpa::pjrt::raise_missing_function(api, #function); \
    ::alpa::pjrt::check(api, #function, (api)->function(args));                              \
  } while (false)

namespace alpa::pjrt {

inline const PJRT_Api* raw(const ApiTable* api) { return reinterpret_cast<const PJRT_Api*>(api); }
inline PJRT_Event* raw(EventHandle* event) { return reinterpret_cast<PJRT_Event*>(event); }
inline PJRT_Device* raw(DeviceHandle* device) { return reinterpret_cast<PJRT_Device*>(device); }
inline PJRT_Buffer* raw(BufferHandle* buffer) { return reinterpret_cast<PJRT_Buffer*>(buffer); }
inline const ApiTable* opaque(const PJRT_Api* api) { return reinterpret_cast<const ApiTable*>(api); }
inline EventHandle* opaque(PJRT_Event* event) { return reinterpret_cast<EventHandle*>(event); }
inline DeviceHandle* opaque(PJRT_Device* device) { return reinterpret_cast<DeviceHandle*>(device); }
inline BufferHandle* opaque(PJRT_Buffer* buffer) { return reinterpret_cast<BufferHandle*>(buffer); }

/// What a Plugin refers to.
struct PluginState {
  std::string path;
  const PJRT_Api* api = nullptr;
};

/// What a Client refers to; the plug-in's client ends with it.
struct ClientState {
  explicit ClientState(Plugin owner);
  ~ClientState();
  ClientState(const ClientState&) = delete;
  ClientState& operator=(const ClientState&) = delete;

  Plugin plugin;
  const PJRT_Api* api;
  PJRT_Client* client = nullptr;
  std::string platform_name;
  std::string platform_version;
  std::vector<Device> devices;
};

[[noreturn]] void raise_missing_function(const PJRT_Api* api, std::string_view function);

/// Throws what `error` says, with the plug-in's own text, and frees it: OutOfMemoryError for RESOURCE_EXHAUSTED,
/// InvalidArgumentError for INVALID_ARGUMENT, else PluginError.
[[noreturn]] void raise_error(const PJRT_Api* api, std::string_view function, PJRT_Error* error);
/// The same; does nothing if `error` is null.
inline void check(const PJRT_Api* api, std::string_view function, PJRT_Error* error) {
  if (error != nullptr) [[unlikely]]
    raise_error(api, function, error);
}

/// Frees `error`, which may be null, without looking at it: for destructors.
void ignore(const PJRT_Api* api, PJRT_Error* error);

/// A view of a plug-in's pointer and size; a null pointer is empty.
inline std::string_view text(const char* data, size_t size) {
  return data == nullptr ? std::string_view() : std::string_view(data, size);
}

/// Numbers, strings and lists as text, in the order of their names.
std::map<std::string, std::string> named_values(const PJRT_NamedValue* values, size_t count);

/// Errors: UnsupportedError if PJRT has no such buffer.
PJRT_Buffer_Type to_buffer_type(tensor::DType dtype);
/// kInvalid if we have no such type.
tensor::DType from_buffer_type(PJRT_Buffer_Type type);

}  // namespace alpa::pjrt
