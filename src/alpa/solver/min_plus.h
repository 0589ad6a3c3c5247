#pragma once

#include <cstdint>

namespace alpa::solver {

/// out[c] = min over r of rows[r * cols + c] - own[r]. The vector instructions of the machine give the same integers.
void min_plus(const int64_t* rows, const int64_t* own, int32_t row_count, int32_t cols, int64_t* out);

/// Folds one more candidate into minima and the candidate that reaches them:
/// where shift + row[c] < least[c], least[c] becomes that and best[c] becomes `candidate`.
void fold_minimum(const int64_t* row, int64_t shift, int32_t cols, int64_t candidate, int64_t* least, int64_t* best);

}  // namespace alpa::solver
