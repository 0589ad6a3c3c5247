#pragma once

#include <string>
#include <vector>

namespace alpa::tool {

/// Fails early if a file could not be written later; an empty path is none. Errors: InvalidArgumentError that names it.
void check_writable(const std::string& path);

struct OutputFile {
  std::string path;
  std::string bytes;
};

/// Writes each to a temporary and renames it; if one fails, those before it are removed.
void write_all(const std::vector<OutputFile>& files);

}  // namespace alpa::tool
