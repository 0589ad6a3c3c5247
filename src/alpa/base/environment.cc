#include "alpa/base/environment.h"

#include <cstdlib>

namespace alpa {
namespace {

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

}  // namespace

Environment read_environment() {
  return {.pjrt_plugin = variable("ALPA_PJRT_PLUGIN"),
          .venv = variable("ALPA_VENV"),
          .virtual_env = variable("VIRTUAL_ENV")};
}

void silence_plugin_log() { setenv("TF_CPP_MIN_LOG_LEVEL", "3", /*overwrite=*/0); }

void set_temporary_folder(const std::string& folder) { setenv("TMPDIR", folder.c_str(), /*overwrite=*/1); }

}  // namespace alpa
