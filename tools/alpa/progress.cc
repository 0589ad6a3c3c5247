#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "format.h"

namespace alpa::tool {

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::show(std::string_view text) {
  if (!terminal_) return;
  fmt::print(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::step(int64_t index, int64_t count, double seconds, std::optional<double> loss) {
  if (!terminal_) return;
  const std::string tail = loss ? fmt::format("  loss {:.6g}", *loss) : "";
  show(fmt::format("step {}/{}  {}{}", index, count, format_seconds(seconds), tail));
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

void Progress::note(std::string_view text) {
  clear();
  fmt::print(stderr, "alpa: {}\n", text);
}

}  // namespace alpa::tool
