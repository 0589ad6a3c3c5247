#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace alpa::solver {

/// Stands for "forbidden" inside the solver. Finite sums stay below kInfinite / 4, so sums of a few fit in 64 bits.
inline constexpr int64_t kInfinite = int64_t(1) << 60;

inline bool is_infinite(int64_t cost) { return cost >= kInfinite / 2; }

/// Sum in which forbidden stays exactly kInfinite.
inline int64_t add_costs(int64_t a, int64_t b) { return is_infinite(a) || is_infinite(b) ? kInfinite : a + b; }

/// An immutable pairwise cost table, row-major, with what the reductions ask of it.
struct Table {
  Table(int32_t rows, int32_t cols, std::vector<int64_t> costs);

  int64_t at(int32_t row, int32_t col) const { return costs[size_t(row) * size_t(cols) + size_t(col)]; }

  int32_t rows = 0;
  int32_t cols = 0;
  std::vector<int64_t> costs;
  bool rows_supported = true;   ///< Every row has a finite entry.
  bool cols_supported = true;   ///< Every column has one.
  bool rows_functional = true;  ///< No row has two: the row's strategy determines the column's.
  bool cols_functional = true;  ///< No column has two.
  bool separable = false;       ///< All finite and a sum of a row part and a column part.

 private:
  void classify();
};

using TablePtr = std::shared_ptr<const Table>;

/// A table seen from one of its two ends: `at(s, t)` with s the strategy of that end.
class TableView {
 public:
  TableView(const Table& table, bool from_rows)
      : costs_(table.costs.data()),
        own_stride_(from_rows ? size_t(table.cols) : 1),
        other_stride_(from_rows ? 1 : size_t(table.cols)),
        own_(from_rows ? table.rows : table.cols),
        other_(from_rows ? table.cols : table.rows) {}

  int64_t at(int32_t own, int32_t other) const { return costs_[own * own_stride_ + other * other_stride_]; }
  int32_t own() const { return own_; }
  int32_t other() const { return other_; }

 private:
  const int64_t* costs_;
  size_t own_stride_;
  size_t other_stride_;
  int32_t own_;
  int32_t other_;
};

}  // namespace alpa::solver
