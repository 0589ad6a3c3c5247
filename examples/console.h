#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

/// What the examples show while they train.
namespace console {

/// One line that is written over: "[######    ] 60/100  loss 2.31  1234 tokens/s".
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
    const auto filled = static_cast<size_t>(24 * step / steps_);
    std::printf("\r[%s%s] %ld/%ld  loss %.4f  %.0f %s/s ", std::string(filled, '#').c_str(),
                std::string(24 - filled, ' ').c_str(), static_cast<long>(step), static_cast<long>(steps_), loss, rate,
                unit_.c_str());
    if (step == steps_) std::printf("\n");
    std::fflush(stdout);
  }

  const std::vector<double>& losses() const { return losses_; }

 private:
  int64_t steps_;
  std::string unit_;
  double units_per_step_;
  std::chrono::steady_clock::time_point start_;
  std::vector<double> losses_;
};

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
