#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace alpa::tool {

/// One line on stderr that is written over, while stderr is a terminal; otherwise nothing.
class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::string_view text);
  void step(int64_t index, int64_t count, double seconds, std::optional<double> loss);
  void clear();
  /// A line that stays, on a terminal or not: what a user must know.
  void note(std::string_view text);

 private:
  bool terminal_ = false;
  bool shown_ = false;
};

}  // namespace alpa::tool
