#pragma once

#include <cstdint>

namespace alpa::solver {

/// out[c] = min over r of rows[r * cols + c] - own[r]. The vector instructions of the machine give the same integers.
void min_plus(const int64_t* rows, const int64_t* own, int32_t row_count, int32_t cols, int64_t* out);

}  // namespace alpa::solver
