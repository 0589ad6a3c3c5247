#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "alpa/solver/memory_rows.h"
#include "alpa/solver/mrf.h"

namespace alpa::solver {

/// Labellings that are likely to fit the limit, found within a few dozen sweeps of message passing: all rows get one
/// price, which grows until what it leads to fits, and then falls as far as that holds. `meet` is handed each one.
void quick_starts(const Mrf& mrf, const MemoryRows& rows, int64_t limit,
                  const std::function<void(const std::vector<int32_t>&)>& meet);

}  // namespace alpa::solver
