#pragma once

#include <cstdint>
#include <string>

namespace alpa {

/// No protobuf and no text that people write is larger.
inline constexpr uint64_t kMostBytesOfAFile = uint64_t{1} << 31;

/// The whole file as bytes. A file that says it is larger than `most_bytes` is not read.
/// Errors: InvalidArgumentError that names the path and the system's reason.
std::string read_file(const std::string& path, uint64_t most_bytes = kMostBytesOfAFile);

/// A fresh directory under the system's temporary folder, removed with everything in it at the end of its life.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

  /// Errors: InvalidArgumentError if the disk that the folder is on has no space left.
  void check_space() const;

 private:
  std::string path_;
};

/// Removes every TemporaryDirectory of this process, in use or not: for a process that is about to be ended.
void remove_temporary_directories();

}  // namespace alpa
