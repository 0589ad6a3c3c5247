#include "client_source.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "alpa/base/environment.h"
#include "alpa/base/error.h"

namespace alpa::tool {
namespace {

constexpr int64_t kStackBytes = int64_t{8} << 20;
constexpr int64_t kArenaBytes = int64_t{64} << 20;  // that the allocator reserves for a thread
constexpr int64_t kMostArenas = 16;

/// Address space that is in use.
int64_t used_bytes() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

/// A CPU plug-in ends the process if it cannot start its threads. Where address space is limited (`ulimit -v`) what
/// they take is known before: measured, two threads a device, four a core and five more.
void check_address_space(int64_t devices) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const int64_t threads = 2 * devices + 4 * static_cast<int64_t>(std::thread::hardware_concurrency()) + 5;
  const int64_t needed = used_bytes() + threads * kStackBytes + std::min(threads, kMostArenas) * kArenaBytes;
  require<OutOfMemoryError>(static_cast<uint64_t>(needed) <= limit.rlim_cur, "plug-in",
                            "{} devices need about {} KiB of address space, of which {} are allowed: raise `ulimit -v` "
                            "or use fewer devices",
                            devices, needed >> 10, limit.rlim_cur >> 10);
}

}  // namespace

const pjrt::Client& ClientSource::get() {
  if (client_) return *client_;
  const pjrt::Plugin plugin = pjrt::Plugin::load(pjrt::find_plugin(plugin_, read_environment()));
  check_address_space(devices_);
  try {
    client_ = pjrt::Client::create(plugin, {.cpu_device_count = static_cast<int>(devices_), .plugin_options = {}});
  } catch (const Error&) {  // a plug-in of real devices refuses a count of virtual ones
    client_ = pjrt::Client::create(plugin);
  }
  return *client_;
}

}  // namespace alpa::tool
