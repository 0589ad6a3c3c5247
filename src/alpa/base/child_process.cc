#include "alpa/base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "alpa/base/error.h"

namespace alpa {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostPrinted = size_t{1} << 16;
constexpr double kMostSeconds = 1e6;

[[noreturn]] void fail(const std::string& program, int error) {
  raise<InvalidArgumentError>("child process", "cannot start {}: {}", program, std::strerror(error));
}

/// Starts it, its output going to `output`. Signals are as a shell would give them, whatever this process does to them.
pid_t start(const std::vector<std::string>& command, int output) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const int error = posix_spawn(&child, command[0].c_str(), &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    close(output);
    fail(command[0], error);
  }
  return child;
}

/// Reads until the end of what the child writes; false if the time was over before.
bool read_until(int input, Clock::time_point limit, std::string& printed) {
  std::array<char, 4096> chunk;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now()).count();
    if (left <= 0) return false;
    pollfd wait{input, POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(std::min<int64_t>(left, 1 << 30)));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t got = read(input, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    printed.append(chunk.data(), static_cast<size_t>(got));
    if (printed.size() > 2 * kMostPrinted) printed.erase(0, printed.size() - kMostPrinted);
  }
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& command, double limit_seconds) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(command[0], errno);
  const std::chrono::duration<double> limit(std::min(limit_seconds, kMostSeconds));
  ChildResult result;
  pid_t child = -1;
  try {
    child = start(command, ends[1]);
  } catch (const Error&) {
    close(ends[0]);
    throw;
  }
  close(ends[1]);
  result.timed_out =
      !read_until(ends[0], Clock::now() + std::chrono::duration_cast<Clock::duration>(limit), result.printed);
  close(ends[0]);
  if (result.timed_out) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

void end_with_parent() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

}  // namespace alpa
