#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace alpa::tool {

std::string format_bytes(double bytes);      ///< "1.50 MiB"
std::string format_seconds(double seconds);  ///< "12.3 ms"
std::string format_flops(double flops);      ///< "1.23 GFLOP"
std::string format_count(double count);      ///< "72,627"; with decimals only if it has some.
std::string format_loss(double loss);        ///< Six digits; "nan", "inf".

/// Columns of text that are as wide as their widest cell.
class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;  ///< Numbers stand at the right.
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Missing cells are empty.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// A rule before the next row: what follows sums up.
  void rule() { rules_.push_back(rows_.size()); }
  bool empty() const { return rows_.empty(); }
  /// Lines, each ended, each after `indent` blanks.
  std::string text(int indent = 2) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<size_t> rules_;
};

}  // namespace alpa::tool
