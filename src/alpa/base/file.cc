#include "alpa/base/file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "alpa/base/error.h"

namespace alpa {

std::string read_file(const std::string& path) {
  std::error_code code;
  require<InvalidArgumentError>(!std::filesystem::is_directory(path, code), "file",
                                "{} is a directory: give the path of a file", path);
  std::ifstream in(path, std::ios::binary);
  require<InvalidArgumentError>(static_cast<bool>(in), "file", "cannot read {}: {}", path, std::strerror(errno));
  std::ostringstream out;
  out << in.rdbuf();
  require<InvalidArgumentError>(!in.bad(), "file", "cannot read {}: {}", path, std::strerror(errno));
  return std::move(out).str();
}

TemporaryDirectory::TemporaryDirectory() {
  std::error_code code;
  const auto root = std::filesystem::temp_directory_path(code);
  require<InvalidArgumentError>(!code, "file", "no temporary folder: {}; set TMPDIR", code.message());
  std::string name = (root / "alpa.XXXXXX").string();
  require<InvalidArgumentError>(mkdtemp(name.data()) != nullptr, "file",
                                "cannot make a folder under {}: {}; set TMPDIR", root.string(), std::strerror(errno));
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace alpa
