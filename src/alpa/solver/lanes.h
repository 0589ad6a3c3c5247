#pragma once

#include <algorithm>
#include <cstdint>

namespace alpa::solver {

/// `kWidth` costs side by side, anywhere in memory.
template <int kWidth>
struct Lanes {
  typedef int64_t Type __attribute__((vector_size(kWidth * sizeof(int64_t)), aligned(sizeof(int64_t)), may_alias));
};

template <int kWidth>
using Lane = typename Lanes<kWidth>::Type;

/// Lanes that `count` costs fill; the last overlaps the one before where they do not come out even.
template <int kWidth>
constexpr int32_t lane_count(int32_t count) {
  return (count + kWidth - 1) / kWidth;
}

/// Where lane `lane` of `count` costs begins.
template <int kWidth>
constexpr int32_t lane_place(int32_t lane, int32_t count) {
  return std::min(lane * kWidth, count - kWidth);
}

}  // namespace alpa::solver
