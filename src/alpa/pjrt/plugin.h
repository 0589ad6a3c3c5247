#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "alpa/base/environment.h"
#include "alpa/pjrt/handles.h"

namespace alpa::pjrt {

struct PluginState;

/// A loaded PJRT plug-in; copies share it. A plug-in is never unloaded.
class Plugin {
 public:
  /// Loads the shared object at `path`, its own log silenced, and initializes it.
  /// Errors: PluginError that names the path and the remedy if the file is missing, is no shared object, is no PJRT
  /// plug-in, or has an API that is too old.
  static Plugin load(const std::string& path);

  const std::string& path() const;
  int api_major() const;
  int api_minor() const;
  /// "0.115".
  std::string api_version() const;
  /// What the plug-in says of itself ("xla_version", "stablehlo_current_version", …), as text; empty if it says
  /// nothing.
  std::map<std::string, std::string> attributes() const;

  const PluginState& state() const { return *state_; }

 private:
  std::shared_ptr<const PluginState> state_;
};

/// The Python environment that was there when the library was built; its wheels hold the default plug-ins.
std::string default_venv();

/// The path of the plug-in to load: `option`, else ALPA_PJRT_PLUGIN, else the first plug-in wheel found in $ALPA_VENV,
/// `venv` and $VIRTUAL_ENV, in this order (lammps_jax_pjrt_cpu before xla_plugins/xla_cpu_pjrt). A path given by the
/// option or the variable is not looked at here.
/// Errors: PluginError that lists the places looked at.
std::string find_plugin(const std::optional<std::string>& option, const Environment& environment,
                        const std::string& venv = default_venv());

}  // namespace alpa::pjrt
