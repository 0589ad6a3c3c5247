#include "output_files.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "alpa/base/error.h"
#include "alpa/base/file.h"

namespace alpa::tool {

void check_writable(const std::string& path) {
  if (path.empty()) return;
  std::error_code code;
  require<InvalidArgumentError>(!std::filesystem::is_directory(path, code), "file",
                                "{} is a directory: give the path of a file", path);
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  require<InvalidArgumentError>(std::filesystem::is_directory(folder, code), "file",
                                "cannot write {}: there is no folder {}", path, folder);
  require<InvalidArgumentError>(access(folder.c_str(), W_OK | X_OK) == 0, "file", "cannot write {}: {}", path,
                                std::strerror(errno));
}

void write_all(const std::vector<OutputFile>& files) {
  for (size_t k = 0; k < files.size(); ++k) {
    try {
      write_file(files[k].path, files[k].bytes);
    } catch (const Error&) {
      std::error_code ignored;
      for (size_t before = 0; before < k; ++before) std::filesystem::remove(files[before].path, ignored);
      throw;
    }
  }
}

}  // namespace alpa::tool
