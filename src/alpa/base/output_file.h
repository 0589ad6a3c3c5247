#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace alpa {

/// A file that is to be written whole. A link is followed; what is no regular file (a pipe, a device) is written to as
/// it is, and so is the file that standard output or error goes to.
struct OutputFile {
  std::string path;
  std::string bytes;
};

/// Writes all files or none: each to a temporary beside its place, and only when all are complete do they take their
/// places. Files that were there before keep their permissions, and on failure their content.
/// Errors: InvalidArgumentError that names the path and the system's reason.
void write_files(const std::vector<OutputFile>& files);

/// The same for one.
void write_file(const std::string& path, std::string_view bytes);

/// Fails where `write_files` would; an empty path is none. Errors: as `write_files`.
void check_writable(const std::string& path);

/// True if what is written to one would take the place of what is written to the other.
bool same_output(const std::string& a, const std::string& b);

}  // namespace alpa
