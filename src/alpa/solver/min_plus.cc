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

void plain(const int64_t* rows, const int64_t* own, int32_t row_count, int32_t cols, int64_t* out) {
  kernel(rows, own, row_count, cols, out);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void wide(const int64_t* rows, const int64_t* own, int32_t row_count, int32_t cols,
                                          int64_t* out) {
  kernel(rows, own, row_count, cols, out);
}
#endif

}  // namespace

void min_plus(const int64_t* rows, const int64_t* own, int32_t row_count, int32_t cols, int64_t* out) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return wide(rows, own, row_count, cols, out);
#endif
  plain(rows, own, row_count, cols, out);
}

}  // namespace alpa::solver
