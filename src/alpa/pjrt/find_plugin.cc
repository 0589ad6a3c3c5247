#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "alpa/base/error.h"
#include "alpa/pjrt/plugin.h"

namespace alpa::pjrt {
namespace {

namespace fs = std::filesystem;

constexpr std::array kWheels = {"lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
                                "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"};

/// `venv`/lib/python3*/site-packages, sorted.
std::vector<fs::path> site_packages(const fs::path& venv) {
  std::vector<fs::path> found;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(venv / "lib", code)) {
    const fs::path candidate = entry.path() / "site-packages";
    if (entry.path().filename().string().starts_with("python3") && fs::is_directory(candidate, code)) {
      found.push_back(candidate);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::string default_venv() { return ALPA_DEFAULT_VENV; }

std::string find_plugin(const std::optional<std::string>& option, const Environment& environment,
                        const std::string& venv) {
  if (option) return *option;
  if (environment.pjrt_plugin) return *environment.pjrt_plugin;
  std::vector<std::string> venvs;
  if (environment.venv) venvs.push_back(*environment.venv);
  if (!venv.empty()) venvs.push_back(venv);
  if (environment.virtual_env) venvs.push_back(*environment.virtual_env);
  for (const std::string& folder : venvs) {
    for (const fs::path& packages : site_packages(folder)) {
      for (const char* wheel : kWheels) {
        std::error_code code;
        if (fs::is_regular_file(packages / wheel, code)) return (packages / wheel).string();
      }
    }
  }
  raise<PluginError>("plug-in",
                     "no PJRT plug-in found; looked for {} under lib/python3*/site-packages of {}: run `make "
                     "setup`, or name a plug-in by option or in ALPA_PJRT_PLUGIN",
                     fmt::join(kWheels, " and "),
                     venvs.empty() ? "no environment" : fmt::format("{}", fmt::join(venvs, ", ")));
}

}  // namespace alpa::pjrt
