#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <regex>
#include <string>
#include <vector>

/// What the examples show while they train.
namespace console {

/// One line that is written over: "[######    ] 60/100  loss 2.31  1234 tokens/s". In a file or a pipe: ten lines.
class Progress {
 public:
  Progress(int64_t steps, std::string unit, double units_per_step)
      : steps_(steps),
        unit_(std::move(unit)),
        units_per_step_(units_per_step),
        start_(std::chrono::steady_clock::now()) {}

  void show(int64_t step, double loss) {
    losses_.push_back(loss);
    if (step == 1) start_ = std::chrono::steady_clock::now();  // the first step compiles
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const double rate = seconds > 0 ? static_cast<double>(step - 1) * units_per_step_ / seconds : 0;
    if (!terminal_ && step != 1 && step != steps_ && 10 * step / steps_ == 10 * (step - 1) / steps_) return;
    const auto filled = static_cast<size_t>(24 * step / steps_);
    std::printf("%s[%s%s] %ld/%ld  loss %.4f  %.0f %s/s%s", terminal_ ? "\r" : "", std::string(filled, '#').c_str(),
                std::string(24 - filled, ' ').c_str(), static_cast<long>(step), static_cast<long>(steps_), loss, rate,
                unit_.c_str(), terminal_ && step != steps_ ? " " : "\n");
    std::fflush(stdout);
  }

  const std::vector<double>& losses() const { return losses_; }

 private:
  const bool terminal_ = isatty(STDOUT_FILENO) != 0;
  int64_t steps_;
  std::string unit_;
  double units_per_step_;
  std::chrono::steady_clock::time_point start_;
  std::vector<double> losses_;
};

/// Arrays and where they lie, one line for those of all blocks that are alike: "blocks[*].attn.qkv.kernel".
inline void print_placements(const std::vector<std::string>& names,
                             const std::vector<alpa::PlacementSpec>& placements) {
  static const std::regex index("\\[[0-9]+\\]");
  std::vector<std::string> shown;
  for (size_t k = 0; k < names.size(); ++k) {
    const std::string line = std::regex_replace(names[k], index, "[*]") + '\t' + placements[k].to_string();
    if (std::find(shown.begin(), shown.end(), line) == shown.end()) shown.push_back(line);
  }
  for (const std::string& line : shown) {
    const size_t tab = line.find('\t');
    std::printf("  %-28s %s\n", line.substr(0, tab).c_str(), line.substr(tab + 1).c_str());
  }
}

/// A curve of at most 64 columns and 10 lines.
inline void plot(const std::vector<double>& values) {
  if (values.size() < 2) return;
  constexpr size_t kColumns = 64, kLines = 10;
  const size_t columns = std::min(kColumns, values.size());
  std::vector<double> points;
  for (size_t k = 0; k < columns; ++k) points.push_back(values[k * (values.size() - 1) / (columns - 1)]);
  const auto [low, high] = std::minmax_element(points.begin(), points.end());
  const double span = std::max(*high - *low, 1e-12);
  for (size_t line = 0; line < kLines; ++line) {
    std::string text(columns, ' ');
    for (size_t k = 0; k < columns; ++k) {
      const auto height = static_cast<size_t>((*high - points[k]) / span * (kLines - 1) + 0.5);
      if (height == line) text[k] = '*';
    }
    std::printf("%8.4f |%s\n", *high - span * static_cast<double>(line) / (kLines - 1), text.c_str());
  }
}

}  // namespace console
