#include "alpa/solver/least_sums.h"

#include <algorithm>
#include <limits>

#include "alpa/solver/lanes.h"
#include "alpa/solver/table.h"

namespace alpa::solver {
namespace {

constexpr size_t kFewRows = 5;  // Sums of that many forbidden costs and a base fit in 64 bits.

/// The least so far of each lane, and the strategy that reaches it.
template <int kWidth>
struct Least {
  Lane<kWidth> cost;
  Lane<kWidth> strategy;
};

/// Folds in `kCount` lanes of strategies that begin at `places`.
template <int kWidth, int kCount, bool kFew>
[[gnu::always_inline]] inline void fold(const int64_t* base, std::span<const CostRows> rows, ptrdiff_t c,
                                        const int32_t* places, const Lane<kWidth>& iota, Least<kWidth>& least) {
  Lane<kWidth> sum[kCount];
  for (int k = 0; k < kCount; ++k) sum[k] = *reinterpret_cast<const Lane<kWidth>*>(base + places[k]);
  for (const CostRows& row : rows) {
    const int64_t* place = row.place + c * row.step;
    for (int k = 0; k < kCount; ++k) {
      sum[k] += *reinterpret_cast<const Lane<kWidth>*>(place + places[k]);
      if (!kFew) sum[k] = sum[k] < kInfinite ? sum[k] : Lane<kWidth>{} + kInfinite;
    }
  }
  for (int k = 0; k < kCount; ++k) {
    const auto better = sum[k] < least.cost;
    least.cost = better ? sum[k] : least.cost;
    least.strategy = better ? iota + places[k] : least.strategy;
  }
}

/// By lanes of strategies.
template <int kWidth, bool kFew>
[[gnu::always_inline]] inline void kernel(std::span<const int64_t> base, std::span<const CostRows> rows, int32_t count,
                                          int64_t* costs, uint16_t* best) {
  const auto domain = static_cast<int32_t>(base.size());
  const int32_t lanes = lane_count<kWidth>(domain);
  Lane<kWidth> iota;
  for (int k = 0; k < kWidth; ++k) iota[k] = k;
  for (int32_t c = 0; c < count; ++c) {
    Least<kWidth> least{Lane<kWidth>{} + std::numeric_limits<int64_t>::max(), Lane<kWidth>{}};
    for (int32_t done = 0; done < lanes; done += 4) {
      const int32_t now = std::min(lanes - done, 4);
      int32_t places[4];
      for (int32_t k = 0; k < now; ++k) places[k] = lane_place<kWidth>(done + k, domain);
      if (now == 4) fold<kWidth, 4, kFew>(base.data(), rows, c, places, iota, least);
      if (now == 3) fold<kWidth, 3, kFew>(base.data(), rows, c, places, iota, least);
      if (now == 2) fold<kWidth, 2, kFew>(base.data(), rows, c, places, iota, least);
      if (now == 1) fold<kWidth, 1, kFew>(base.data(), rows, c, places, iota, least);
    }
    int64_t cost = least.cost[0];
    int64_t strategy = least.strategy[0];
    for (int k = 1; k < kWidth; ++k) {
      const bool better = least.cost[k] < cost || (least.cost[k] == cost && least.strategy[k] < strategy);
      cost = better ? least.cost[k] : cost;
      strategy = better ? least.strategy[k] : strategy;
    }
    costs[c] = is_infinite(cost) ? kInfinite : cost;
    best[c] = static_cast<uint16_t>(strategy);
  }
}

template <int kWidth>
[[gnu::always_inline]] inline void either(std::span<const int64_t> base, std::span<const CostRows> rows, int32_t count,
                                          int64_t* costs, uint16_t* best) {
  if (rows.size() <= kFewRows) {
    kernel<kWidth, true>(base, rows, count, costs, best);
  } else {
    kernel<kWidth, false>(base, rows, count, costs, best);
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void by_four(std::span<const int64_t> base, std::span<const CostRows> rows,
                                             int32_t count, int64_t* costs, uint16_t* best) {
  either<4>(base, rows, count, costs, best);
}

__attribute__((target("avx512f"))) void by_eight(std::span<const int64_t> base, std::span<const CostRows> rows,
                                                 int32_t count, int64_t* costs, uint16_t* best) {
  either<8>(base, rows, count, costs, best);
}
#endif

}  // namespace

void least_sums(std::span<const int64_t> base, std::span<const CostRows> rows, int32_t count, int64_t* costs,
                uint16_t* best) {
#if defined(__x86_64__)
  if (base.size() >= 8 && __builtin_cpu_supports("avx512f")) return by_eight(base, rows, count, costs, best);
  if (base.size() >= 4 && __builtin_cpu_supports("avx2")) return by_four(base, rows, count, costs, best);
#endif
  either<1>(base, rows, count, costs, best);
}

}  // namespace alpa::solver
