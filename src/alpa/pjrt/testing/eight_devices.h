#pragma once

#include <map>

#include "alpa/pjrt/client.h"
#include "alpa/pjrt/testing/plugin_path.h"

namespace alpa::pjrt {

/// Eight virtual devices of plug-in 0, the default one ("lammps"), or 1 ("xla"); made at the first call.
inline const Client& eight_devices(int plugin) {
  static std::map<int, Client> clients;
  const auto found = clients.find(plugin);
  if (found != clients.end()) return found->second;
  const Plugin loaded = Plugin::load(plugin_path(plugin == 0 ? "lammps" : "xla"));
  return clients.emplace(plugin, Client::create(loaded, {.cpu_device_count = 8})).first->second;
}

}  // namespace alpa::pjrt
