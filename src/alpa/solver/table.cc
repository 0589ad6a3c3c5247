#include "alpa/solver/table.h"

#include <utility>

namespace alpa::solver {

Table::Table(int32_t row_count, int32_t col_count, std::vector<int64_t> entries)
    : rows(row_count), cols(col_count), costs(std::move(entries)) {
  classify();
}

void Table::classify() {
  std::vector<int32_t> in_col(cols, 0);
  bool all_finite = true;
  for (int32_t r = 0; r < rows; ++r) {
    int32_t in_row = 0;
    for (int32_t c = 0; c < cols; ++c) {
      if (is_infinite(at(r, c))) {
        all_finite = false;
        continue;
      }
      ++in_row;
      ++in_col[c];
    }
    rows_supported = rows_supported && in_row > 0;
    rows_functional = rows_functional && in_row <= 1;
  }
  for (int32_t count : in_col) {
    cols_supported = cols_supported && count > 0;
    cols_functional = cols_functional && count <= 1;
  }
  separable = all_finite;
  for (int32_t r = 1; r < rows && separable; ++r) {
    const int64_t shift = at(r, 0) - at(0, 0);
    for (int32_t c = 1; c < cols && separable; ++c) separable = at(r, c) - at(0, c) == shift;
  }
}

}  // namespace alpa::solver
