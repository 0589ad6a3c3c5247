#include "alpa/solver/min_plus.h"

#include <algorithm>
#include <limits>

namespace alpa::solver {
namespace {

[[gnu::always_inline]] inline void kernel(const int64_t* __restrict rows, const int64_t* __restrict own,
                                          int32_t row_count, int32_t cols, int64_t* __restrict out) {
  std::fill(out, out + cols, std::numeric_limits<int64_t>::max());
  for (int32_t r = 0; r < row_count; ++r) {
    const int64_t shift = own[r];
    const int64_t* __restrict row = rows + size_t(r) * size_t(cols);
    for (int32_t c = 0; c < cols; ++c) {
      const int64_t value = row[c] - shift;
      out[c] = value < out[c] ? value : out[c];
    }
  }
}

[[gnu::always_inline]] inline void fold_kernel(const int64_t* __restrict row, int64_t shift, int32_t cols,
                                               int64_t candidate, int64_t* __restrict least, int64_t* __restrict best) {
  for (int32_t c = 0; c < cols; ++c) {
    const int64_t value = row[c] + shift;
    const bool better = value < least[c];
    least[c] = better ? value : least[c];
    best[c] = better ? candidate : best[c];
  }
}

void plain(const int64_t* rows, const int64_t* own, int32_t row_count, int32_t cols, int64_t* out) {
  kernel(rows, own, row_count, cols, out);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void wide(const int64_t* rows, const int64_t* own, int32_t row_count, int32_t cols,
                                          int64_t* out) {
  kernel(rows, own, row_count, cols, out);
}

__attribute__((target("avx2"))) void wide_fold(const int64_t* row, int64_t shift, int32_t cols, int64_t candidate,
                                               int64_t* least, int64_t* best) {
  fold_kernel(row, shift, cols, candidate, least, best);
}
#endif

}  // namespace

void min_plus(const int64_t* rows, const int64_t* own, int32_t row_count, int32_t cols, int64_t* out) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return wide(rows, own, row_count, cols, out);
#endif
  plain(rows, own, row_count, cols, out);
}

void fold_minimum(const int64_t* row, int64_t shift, int32_t cols, int64_t candidate, int64_t* least, int64_t* best) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return wide_fold(row, shift, cols, candidate, least, best);
#endif
  fold_kernel(row, shift, cols, candidate, least, best);
}

}  // namespace alpa::solver
