#include "format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace alpa::tool {
namespace {

/// Three digits and the largest unit that keeps the number at or above 1.
std::string scaled(double value, double base, const std::vector<const char*>& units) {
  size_t unit = 0;
  while (unit + 1 < units.size() && std::abs(value) >= base) {
    value /= base;
    ++unit;
  }
  const double size = std::abs(value);
  if (value == std::floor(value) && unit == 0) return fmt::format("{:.0f} {}", value, units[unit]);
  return fmt::format("{:.{}f} {}", value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0, units[unit]);
}

/// Code points, for text that may hold box-drawing characters.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string format_bytes(double bytes) { return scaled(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB"}); }

std::string format_seconds(double seconds) {
  if (seconds >= 1 || seconds == 0) return fmt::format("{:.{}f} s", seconds, seconds >= 100 ? 0 : 2);
  return scaled(seconds * 1e9, 1000, {"ns", "us", "ms"});
}

std::string format_flops(double flops) {
  return scaled(flops, 1000, {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"});
}

std::string format_count(double count) {
  if (count != std::floor(count) || std::abs(count) > 1e15) return fmt::format("{:.6g}", count);
  std::string digits = fmt::format("{:.0f}", std::abs(count));
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<size_t>(at), ",");
  return (count < 0 ? "-" : "") + digits;
}

std::string format_loss(double loss) { return fmt::format("{:.6f}", loss); }

std::string Table::text(int indent) const {
  std::vector<size_t> widths;
  for (size_t k = 0; k < columns_.size(); ++k) {
    size_t width = width_of(columns_[k].title);
    for (const auto& row : rows_) width = std::max(width, k < row.size() ? width_of(row[k]) : 0);
    widths.push_back(width);
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text(static_cast<size_t>(indent), ' ');
    for (size_t k = 0; k < columns_.size(); ++k) {
      const std::string cell = k < cells.size() ? cells[k] : "";
      const std::string blanks(widths[k] - width_of(cell), ' ');
      text += (k == 0 ? "" : "  ") + (columns_[k].right ? blanks + cell : cell + blanks);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string rule(static_cast<size_t>(indent), ' ');
  for (size_t k = 0; k < widths.size(); ++k) {
    rule += k == 0 ? "" : "  ";
    for (size_t n = 0; n < widths[k]; ++n) rule += "─";
  }
  rule += "\n";
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string result = line(titles) + rule;
  for (size_t k = 0; k < rows_.size(); ++k) {
    if (std::find(rules_.begin(), rules_.end(), k) != rules_.end()) result += rule;
    result += line(rows_[k]);
  }
  return result;
}

}  // namespace alpa::tool
