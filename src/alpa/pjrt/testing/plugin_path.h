#pragma once

#include <filesystem>
#include <string>

namespace alpa::pjrt {

/// Path of a CPU plug-in in the environment of the tests, "lammps" (the default one) or "xla", whatever its Python.
inline std::string plugin_path(const std::string& wheel) {
  const std::string file =
      wheel == "lammps" ? "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so" : "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so";
  for (const auto& python : std::filesystem::directory_iterator(std::string(ALPA_VENV) + "/lib")) {
    const auto path = python.path() / "site-packages" / file;
    if (std::filesystem::exists(path)) return path.string();
  }
  return file + " is not installed";
}

}  // namespace alpa::pjrt
