#include "alpa/solver/min_plus.h"

#include <algorithm>
#include <limits>

#include "alpa/solver/lanes.h"

namespace alpa::solver {
namespace {

/// The minima of `kCount` lanes of columns, at `places`, held in registers while the rows pass.
template <int kWidth, int kCount>
[[gnu::always_inline]] inline void lanes(const int64_t* __restrict rows, const int64_t* __restrict own,
                                         int32_t row_count, int32_t cols, const int32_t* places,
                                         int64_t* __restrict out) {
  using Costs = Lane<kWidth>;
  Costs least[kCount];
  for (int k = 0; k < kCount; ++k) least[k] = Costs{} + std::numeric_limits<int64_t>::max();
  for (int32_t r = 0; r < row_count; ++r) {
    const int64_t* __restrict row = rows + size_t(r) * size_t(cols);
    const Costs shift = Costs{} + own[r];
    for (int k = 0; k < kCount; ++k) {
      const Costs value = *reinterpret_cast<const Costs*>(row + places[k]) - shift;
      least[k] = value < least[k] ? value : least[k];
    }
  }
  for (int k = 0; k < kCount; ++k) *reinterpret_cast<Costs*>(out + places[k]) = least[k];
}

/// Columns by four lanes at a time.
template <int kWidth>
[[gnu::always_inline]] inline void kernel(const int64_t* __restrict rows, const int64_t* __restrict own,
                                          int32_t row_count, int32_t cols, int64_t* __restrict out) {
  const int32_t count = lane_count<kWidth>(cols);
  int32_t places[4];
  for (int32_t done = 0; done < count; done += 4) {
    const int32_t now = std::min(count - done, 4);
    for (int32_t k = 0; k < now; ++k) places[k] = lane_place<kWidth>(done + k, cols);
    if (now == 4) lanes<kWidth, 4>(rows, own, row_count, cols, places, out);
    if (now == 3) lanes<kWidth, 3>(rows, own, row_count, cols, places, out);
    if (now == 2) lanes<kWidth, 2>(rows, own, row_count, cols, places, out);
    if (now == 1) lanes<kWidth, 1>(rows, own, row_count, cols, places, out);
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

#if defined(__x86_64__)
__attribute__((target("avx2"))) void by_four(const int64_t* rows, const int64_t* own, int32_t row_count, int32_t cols,
                                             int64_t* out) {
  kernel<4>(rows, own, row_count, cols, out);
}

__attribute__((target("avx512f"))) void by_eight(const int64_t* rows, const int64_t* own, int32_t row_count,
                                                 int32_t cols, int64_t* out) {
  kernel<8>(rows, own, row_count, cols, out);
}

__attribute__((target("avx2"))) void wide_fold(const int64_t* row, int64_t shift, int32_t cols, int64_t candidate,
                                               int64_t* least, int64_t* best) {
  fold_kernel(row, shift, cols, candidate, least, best);
}
#endif

}  // namespace

void min_plus(const int64_t* rows, const int64_t* own, int32_t row_count, int32_t cols, int64_t* out) {
#if defined(__x86_64__)
  if (cols >= 8 && __builtin_cpu_supports("avx512f")) return by_eight(rows, own, row_count, cols, out);
  if (cols >= 4 && __builtin_cpu_supports("avx2")) return by_four(rows, own, row_count, cols, out);
#endif
  kernel<1>(rows, own, row_count, cols, out);
}

void fold_minimum(const int64_t* row, int64_t shift, int32_t cols, int64_t candidate, int64_t* least, int64_t* best) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return wide_fold(row, shift, cols, candidate, least, best);
#endif
  fold_kernel(row, shift, cols, candidate, least, best);
}

}  // namespace alpa::solver
