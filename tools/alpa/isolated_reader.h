#pragma once

#include <optional>
#include <string>

#include "alpa/compiler/program.h"

namespace alpa::tool {

/// Reads StableHLO in a process of its own: a plug-in's parser may crash, or never end, on a file that is damaged.
/// Errors: PluginError with the plug-in's text, or that says how the process ended.
compiler::StableHloReader isolated_reader(std::optional<std::string> plugin);

}  // namespace alpa::tool
