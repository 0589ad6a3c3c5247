#include "alpa/base/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "alpa/base/error.h"

namespace alpa {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;
constexpr int kMaxTemporaries = 1000;

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  raise<InvalidArgumentError>("file", "cannot write {}: {}", path, reason);
}

[[noreturn]] void fail_system(const std::string& path, int error) { fail(path, std::strerror(error)); }

/// Where a file really goes.
struct Target {
  std::string path;               ///< As the caller named it.
  std::string place;              ///< Links followed.
  std::optional<mode_t> mode;     ///< Permissions of the regular file that is there.
  bool direct = false;            ///< Written to as it is.
  std::optional<int> descriptor;  ///< Of the standard stream that goes to this very file.
};

std::string folder_of(const std::string& place) {
  const std::string folder = fs::path(place).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Follows links to a place that need not exist yet.
std::string follow_links(const std::string& path) {
  fs::path at = path;
  for (int links = 0; links < kMaxLinks; ++links) {
    std::error_code code;
    const fs::path next = fs::read_symlink(at, code);
    if (code) return at.string();  // no link
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  fail_system(path, ELOOP);
}

std::optional<int> standard_stream(const struct stat& file) {
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat stream {};
    if (fstat(descriptor, &stream) == 0 && stream.st_dev == file.st_dev && stream.st_ino == file.st_ino)
      return descriptor;
  }
  return std::nullopt;
}

Target target_of(const std::string& path) {
  Target target{path, path, std::nullopt, false, std::nullopt};
  struct stat file {};
  if (stat(path.c_str(), &file) == 0) {
    require<InvalidArgumentError>(!S_ISDIR(file.st_mode), "file", "{} is a directory: give the path of a file", path);
    target.descriptor = standard_stream(file);
    target.direct = !S_ISREG(file.st_mode) || target.descriptor;
    if (!target.direct) target.mode = file.st_mode & 07777;
  } else if (errno != ENOENT && errno != ENOTDIR) {  // those: a missing folder has a message of its own
    fail_system(path, errno);
  }
  if (!target.direct) target.place = follow_links(path);
  return target;
}

void check(const Target& target) {
  if (target.direct) {
    if (!target.descriptor && access(target.path.c_str(), W_OK) != 0) fail_system(target.path, errno);
    return;
  }
  const std::string folder = folder_of(target.place);
  std::error_code code;
  if (!fs::is_directory(folder, code)) fail(target.path, "there is no folder " + folder);
  if (access(folder.c_str(), W_OK | X_OK) != 0) fail_system(target.path, errno);
}

/// Writes all of it and closes the file; 0 or the system's error.
int write_and_close(int descriptor, std::string_view bytes) {
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (close(descriptor) != 0 && error == 0) error = errno;
  return error;
}

/// A file that is written but not yet in its place. Until `settle` its end undoes what was done.
class Staged {
 public:
  Staged(Target target, std::string_view bytes) : target_(std::move(target)) {
    // A short name of its own: that of the target may be as long as the system allows.
    int descriptor = -1;
    for (int k = 0; descriptor < 0 && k < kMaxTemporaries; ++k) {
      temporary_ = folder_of(target_.place) + "/.alpa" + std::to_string(getpid()) + "." + std::to_string(k);
      descriptor = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor < 0 && errno != EEXIST) break;
    }
    if (descriptor < 0) fail_system(target_.path, errno);
    if (target_.mode) fchmod(descriptor, *target_.mode);
    const int error = write_and_close(descriptor, bytes);
    if (error == 0) return;
    unlink(temporary_.c_str());
    fail_system(target_.path, error);
  }

  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;

  ~Staged() {
    if (!placed_) {
      unlink(temporary_.c_str());
    } else if (!settled_ && !target_.mode) {
      unlink(target_.place.c_str());
    } else if (!settled_ && !former_.empty()) {
      rename(former_.c_str(), target_.place.c_str());
    }
    if (settled_ && !former_.empty()) unlink(former_.c_str());
  }

  void place() {
    // A second name keeps the former content. Not every file system has them: then a failure of a later file leaves
    // this one replaced.
    const std::string former = temporary_ + "~";
    if (target_.mode && link(target_.place.c_str(), former.c_str()) == 0) former_ = former;
    if (rename(temporary_.c_str(), target_.place.c_str()) != 0) {
      const int error = errno;
      if (!former_.empty()) unlink(former_.c_str());
      fail_system(target_.path, error);
    }
    placed_ = true;
  }

  void settle() { settled_ = true; }

 private:
  Target target_;
  std::string temporary_;
  std::string former_;  ///< Second name of what was in the place; empty if there is none.
  bool placed_ = false;
  bool settled_ = false;
};

void write_directly(const Target& target, std::string_view bytes) {
  std::fflush(nullptr);  // what was printed before comes before
  const int descriptor = target.descriptor ? dup(*target.descriptor) : open(target.path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) fail_system(target.path, errno);
  if (const int error = write_and_close(descriptor, bytes); error != 0) fail_system(target.path, error);
}

}  // namespace

void write_files(const std::vector<OutputFile>& files) {
  std::vector<Target> targets;
  for (const OutputFile& file : files) {
    targets.push_back(target_of(file.path));
    check(targets.back());
  }
  std::vector<std::unique_ptr<Staged>> staged;
  for (size_t k = 0; k < files.size(); ++k) {
    if (!targets[k].direct) staged.push_back(std::make_unique<Staged>(targets[k], files[k].bytes));
  }
  for (size_t k = 0; k < files.size(); ++k) {
    if (targets[k].direct) write_directly(targets[k], files[k].bytes);
  }
  for (const auto& one : staged) one->place();
  for (const auto& one : staged) one->settle();
}

void write_file(const std::string& path, std::string_view bytes) { write_files({{path, std::string(bytes)}}); }

void check_writable(const std::string& path) {
  if (!path.empty()) check(target_of(path));
}

bool same_output(const std::string& a, const std::string& b) {
  const Target one = target_of(a);
  const Target other = target_of(b);
  if (one.direct || other.direct) return false;
  std::error_code code;
  return fs::weakly_canonical(one.place, code) == fs::weakly_canonical(other.place, code);
}

}  // namespace alpa
