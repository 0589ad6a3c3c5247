#include "alpa/pjrt/plugin.h"

#include <dlfcn.h>

#include <filesystem>

#include "alpa/base/error.h"
#include "alpa/pjrt/c_api.h"

namespace alpa::pjrt {
namespace {

constexpr const char* kPlace = "plug-in";

/// Major versions are incompatible with each other. Minor versions 81 and 115 are tested; below kMinimumMinor we do not
/// even try.
constexpr int kMajor = PJRT_API_MAJOR;
constexpr int kMinimumMinor = 54;

using GetApi = const PJRT_Api* (*)();

GetApi entry_point(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    raise<PluginError>(
        kPlace, "{} cannot be loaded as a shared object: {}; give the path of a PJRT plug-in (.so) for this machine",
        path, dlerror());
  }
  void* symbol = dlsym(library, "GetPjrtApi");
  require<PluginError>(symbol != nullptr, kPlace,
                       "{} is a shared object but no PJRT plug-in (it has no symbol GetPjrtApi): give the path of one",
                       path);
  return reinterpret_cast<GetApi>(symbol);
}

void check_version(const std::string& path, const PJRT_Api* api) {
  const size_t needed = offsetof(PJRT_Api, pjrt_api_version) + sizeof(PJRT_Api_Version);
  const bool readable = api != nullptr && api->struct_size >= needed;
  require<PluginError>(readable, kPlace,
                       "{} offers no usable PJRT API (at least {}.{} is needed): install a newer plug-in", path, kMajor,
                       kMinimumMinor);
  const PJRT_Api_Version& version = api->pjrt_api_version;
  require<PluginError>(version.major_version == kMajor && version.minor_version >= kMinimumMinor, kPlace,
                       "{} has PJRT API {}.{}, at least {}.{} is needed: install a newer plug-in", path,
                       version.major_version, version.minor_version, kMajor, kMinimumMinor);
}

}  // namespace

Plugin Plugin::load(const std::string& path) {
  std::error_code code;
  const bool exists = std::filesystem::is_regular_file(path, code);
  require<PluginError>(exists, kPlace, "there is no file {}: run `make setup` or name a plug-in in ALPA_PJRT_PLUGIN",
                       path);
  silence_plugin_log();
  // With a slash, or else dlopen would search the library path.
  const GetApi get_api = entry_point(std::filesystem::absolute(path).string());
  auto state = std::make_shared<PluginState>();
  state->path = path;
  state->api = get_api();
  check_version(path, state->api);
  ALPA_PJRT_ARGS(PJRT_Plugin_Initialize_Args, args);
  ALPA_PJRT_CALL(state->api, PJRT_Plugin_Initialize, &args);
  Plugin plugin;
  plugin.state_ = std::move(state);
  return plugin;
}

const std::string& Plugin::path() const { return state_->path; }
int Plugin::api_major() const { return state_->api->pjrt_api_version.major_version; }
int Plugin::api_minor() const { return state_->api->pjrt_api_version.minor_version; }
std::string Plugin::api_version() const { return fmt::format("{}.{}", api_major(), api_minor()); }

std::map<std::string, std::string> Plugin::attributes() const {
  const PJRT_Api* api = state_->api;
  if (!ALPA_PJRT_HAS(api, PJRT_Plugin_Attributes)) return {};
  ALPA_PJRT_ARGS(PJRT_Plugin_Attributes_Args, args);
  ALPA_PJRT_CALL(api, PJRT_Plugin_Attributes, &args);
  return named_values(args.attributes, args.num_attributes);
}

}  // namespace alpa::pjrt
