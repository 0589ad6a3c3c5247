#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace alpa::solver {

/// Costs by strategy, one row after another: row c begins at place + c * step.
struct CostRows {
  const int64_t* place = nullptr;
  ptrdiff_t step = 0;
};

/// For each c below `count`: costs[c] = min over s of base[s] + the sum of row c of each of `rows` at s, kInfinite
/// where that is forbidden; best[c] = the first s that reaches it. The vector instructions of the machine give the same
/// numbers.
void least_sums(std::span<const int64_t> base, std::span<const CostRows> rows, int32_t count, int64_t* costs,
                uint16_t* best);

}  // namespace alpa::solver
