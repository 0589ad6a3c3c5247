#include "outputs.h"

#include <fmt/format.h>

#include <filesystem>

#include "alpa/base/output_file.h"
#include "command.h"

namespace alpa::tool {
namespace {

/// The same regular file, whatever the names and links that lead there.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code code;
  return std::filesystem::is_regular_file(a, code) && std::filesystem::equivalent(a, b, code) && !code;
}

}  // namespace

void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  for (size_t k = 0; k < outputs.size(); ++k) {
    const NamedFile& output = outputs[k];
    if (output.path.empty()) continue;
    check_writable(output.path);
    for (size_t other = 0; other < k; ++other) {
      if (outputs[other].path.empty() || !same_output(outputs[other].path, output.path)) continue;
      throw UsageError(fmt::format("{} and {} both name {}: they are two files", outputs[other].option, output.option,
                                   outputs[other].path));
    }
    for (const NamedFile& input : inputs) {
      if (input.path.empty() || !same_file(output.path, input.path)) continue;
      throw UsageError(fmt::format("{} {} is the file that {} names, which would be lost: give another path",
                                   output.option, output.path, input.option));
    }
  }
}

}  // namespace alpa::tool
