#include "client_source.h"

#include "alpa/base/environment.h"
#include "alpa/base/error.h"

namespace alpa::tool {

const pjrt::Client& ClientSource::get() {
  if (client_) return *client_;
  const pjrt::Plugin plugin = pjrt::Plugin::load(pjrt::find_plugin(plugin_, read_environment()));
  try {
    client_ = pjrt::Client::create(plugin, {.cpu_device_count = static_cast<int>(devices_), .plugin_options = {}});
  } catch (const Error&) {  // a plug-in of real devices refuses a count of virtual ones
    client_ = pjrt::Client::create(plugin);
  }
  return *client_;
}

}  // namespace alpa::tool
