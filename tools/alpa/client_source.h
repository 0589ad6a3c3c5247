#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "alpa/pjrt/client.h"

namespace alpa::tool {

/// Loads the plug-in and makes its client when first asked for one.
class ClientSource {
 public:
  /// `plugin`: the option; `devices`: virtual devices of a CPU plug-in.
  ClientSource(std::optional<std::string> plugin, int64_t devices) : plugin_(std::move(plugin)), devices_(devices) {}

  /// Errors: PluginError.
  const pjrt::Client& get();

 private:
  std::optional<std::string> plugin_;
  int64_t devices_ = 1;
  std::optional<pjrt::Client> client_;
};

}  // namespace alpa::tool
