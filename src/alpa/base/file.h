#pragma once

#include <string>
#include <string_view>

namespace alpa {

/// The whole file as bytes. Errors: InvalidArgumentError that names the path and the system's reason.
std::string read_file(const std::string& path);

/// Writes to a temporary beside `path` and renames it: on failure `path` is untouched.
/// Errors: InvalidArgumentError that names the path and the system's reason.
void write_file(const std::string& path, std::string_view bytes);

/// A fresh directory under the system's temporary folder, removed with everything in it at the end of its life.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace alpa
