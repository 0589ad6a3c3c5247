#pragma once

#include <string>

namespace alpa {

/// The whole file as bytes. Errors: InvalidArgumentError that names the path and the system's reason.
std::string read_file(const std::string& path);

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
