#pragma once

#include <string>
#include <vector>

namespace alpa::tool {

/// A file that an option names; an empty path: not given.
struct NamedFile {
  std::string option;
  std::string path;
};

/// Checks, before any work, that the outputs can be written and that none takes the place of another or of an input.
/// Errors: UsageError for those; InvalidArgumentError if one cannot be written.
void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

}  // namespace alpa::tool
