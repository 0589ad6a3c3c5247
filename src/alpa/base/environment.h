#pragma once

#include <optional>
#include <string>

namespace alpa {

/// The environment variables that the project reads, typed; this is the one place that reads them.
struct Environment {
  std::optional<std::string> pjrt_plugin;  ///< ALPA_PJRT_PLUGIN: path of the plug-in to load when no option names one.
  std::optional<std::string> venv;         ///< ALPA_VENV: a Python environment whose wheels are searched for plug-ins.
  std::optional<std::string> virtual_env;  ///< VIRTUAL_ENV: the Python environment that is active in the shell.
};

/// Reads the variables as they are now; an empty one counts as not set.
Environment read_environment();

/// Sets TF_CPP_MIN_LOG_LEVEL=3 unless the user set it; silences a plug-in's own log. Call before the plug-in is loaded.
void silence_plugin_log();

/// Sets TMPDIR, for this process: temporary directories are made in `folder`.
void set_temporary_folder(const std::string& folder);

}  // namespace alpa
