#include "plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace alpa::tool {
namespace {

constexpr int kWidth = 64;
constexpr int kHeight = 12;

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  size_t steps = 0;
};

Range range_of(const std::vector<Curve>& curves) {
  Range range;
  for (const Curve& curve : curves) {
    range.steps = std::max(range.steps, curve.values.size());
    for (const double value : curve.values) {
      if (!std::isfinite(value)) continue;
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
    }
  }
  return range;
}

}  // namespace

std::string plot(const std::vector<Curve>& curves) {
  const Range range = range_of(curves);
  if (!(range.low <= range.high)) return "  no finite loss to plot\n";
  const double span = range.high > range.low ? range.high - range.low : 1;
  // Which curves pass through a cell, a bit each.
  std::vector<std::vector<unsigned>> cells(kHeight, std::vector<unsigned>(kWidth, 0));
  for (size_t which = 0; which < curves.size(); ++which) {
    const std::vector<double>& values = curves[which].values;
    for (size_t step = 0; step < values.size(); ++step) {
      if (!std::isfinite(values[step])) continue;
      const double across = range.steps > 1 ? static_cast<double>(step) / static_cast<double>(range.steps - 1) : 0;
      const auto column = static_cast<size_t>(std::lround(across * (kWidth - 1)));
      const auto line = static_cast<size_t>(std::lround((range.high - values[step]) / span * (kHeight - 1)));
      cells[line][column] |= 1u << which;
    }
  }
  static constexpr const char* kGlyphs[] = {" ", "●", "○", "◉"};
  std::string text;
  for (int line = 0; line < kHeight; ++line) {
    const double value = range.high - span * line / (kHeight - 1);
    text += line % 3 == 0 || line == kHeight - 1 ? fmt::format("  {:>9.4f} ┤", value) : fmt::format("  {:>9} │", "");
    std::string row;
    for (const unsigned cell : cells[static_cast<size_t>(line)]) row += kGlyphs[std::min(cell, 3u)];
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  text += fmt::format("  {:>9} └", "");
  for (int column = 0; column < kWidth; ++column) text += "─";
  text += fmt::format("\n  {:>9}  step 1{:>{}}\n", "", range.steps, kWidth - 6);
  if (curves.size() == 1) return text + fmt::format("  {:>9}  ● {}\n", "", curves[0].name);
  return text + fmt::format("  {:>9}  ● {}   ○ {}   ◉ both\n", "", curves[0].name, curves[1].name);
}

}  // namespace alpa::tool
