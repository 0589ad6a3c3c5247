#pragma once

#include <cstddef>
#include <functional>

namespace alpa::solver {

/// Calls `work(k)` for each k in [0, count), on as many threads as there are cores, or as `most_threads` says (0: all
/// cores), in any order: calls must not depend on each other. An exception of one of them is thrown again here, that of
/// the least k.
void for_each_in_parallel(size_t count, const std::function<void(size_t)>& work, int most_threads = 0);

}  // namespace alpa::solver
