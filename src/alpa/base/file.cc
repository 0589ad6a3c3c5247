#include "alpa/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "alpa/base/error.h"

namespace alpa {
namespace {

namespace fs = std::filesystem;

constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr uint64_t kLeastSpaceBytes = uint64_t{1} << 16;
constexpr int kMaxRemovals = 100;

[[noreturn]] void fail(const std::string& path, int error) {
  raise<InvalidArgumentError>("file", "cannot read {}: {}", path, std::strerror(error));
}

/// An open file, closed at the end of its life.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

void check_size(const std::string& path, uint64_t bytes, uint64_t most_bytes) {
  require<InvalidArgumentError>(bytes <= most_bytes, "file",
                                "{} has {} bytes, more than the {} that such a file can be", path, bytes, most_bytes);
}

std::string temporary_prefix() { return "alpa." + std::to_string(getpid()) + "."; }

}  // namespace

std::string read_file(const std::string& path, uint64_t most_bytes) {
  const Descriptor file(path);
  if (file.number() < 0) fail(path, errno);
  struct stat status {};
  if (fstat(file.number(), &status) != 0) fail(path, errno);
  require<InvalidArgumentError>(!S_ISDIR(status.st_mode), "file", "{} is a directory: give the path of a file", path);
  const auto size = static_cast<uint64_t>(status.st_size);  // 0 for what is no regular file
  check_size(path, size, most_bytes);
  std::string bytes;
  size_t filled = 0;
  while (true) {
    // One byte more than there should be: its reading says that the end is there.
    if (filled == bytes.size()) bytes.resize(filled == 0 ? std::max<size_t>(size + 1, 1) : filled + kChunkBytes);
    const ssize_t got = read(file.number(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, errno);
    if (got == 0) break;
    filled += static_cast<size_t>(got);
    check_size(path, filled, most_bytes);
  }
  bytes.resize(filled);
  return bytes;
}

TemporaryDirectory::TemporaryDirectory() {
  std::error_code code;
  const fs::path root = fs::temp_directory_path(code);
  require<InvalidArgumentError>(!code, "file", "no temporary folder: {}; set TMPDIR", code.message());
  std::string name = (root / (temporary_prefix() + "XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) {
    const int error = errno;
    raise<InvalidArgumentError>("file", "cannot make a folder under {}: {}; set TMPDIR", root.string(),
                                std::strerror(error));
  }
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void TemporaryDirectory::check_space() const {
  std::error_code code;
  const fs::space_info space = fs::space(path_, code);
  require<InvalidArgumentError>(code || space.available >= kLeastSpaceBytes, "file",
                                "no space left in {}, where a plug-in's programs are kept: free some, or set TMPDIR",
                                fs::path(path_).parent_path().string());
}

void remove_temporary_directories() {
  std::error_code code;
  const fs::path root = fs::temp_directory_path(code);
  if (code) return;
  // What still runs may write while this removes.
  for (int round = 0; round < kMaxRemovals; ++round) {
    bool found = false;
    for (auto at = fs::directory_iterator(root, fs::directory_options::skip_permission_denied, code);
         !code && at != fs::directory_iterator(); at.increment(code)) {
      if (!at->path().filename().string().starts_with(temporary_prefix())) continue;
      found = true;
      std::error_code ignored;
      fs::remove_all(at->path(), ignored);
    }
    if (!found) return;
  }
}

}  // namespace alpa
