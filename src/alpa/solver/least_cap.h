#pragma once

#include <cstdint>
#include <vector>

#include "alpa/solver/run.h"

namespace alpa::solver {

struct LeastCap {
  bool known = false;           ///< An allowed choice was found.
  bool no_choice = false;       ///< Proved: every choice is forbidden.
  std::vector<int32_t> choice;  ///< Of least peak among those found.
  int64_t peak = 0;             ///< Of `choice`, in bytes.
  int64_t bound = 0;            ///< No allowed choice has a smaller peak, in bytes.
};

/// Minimises the peak usage, whatever the cost.
///
/// Bound: for weights w >= 0 on the time steps that sum to 1, the peak is at least the least weighted usage; weights
/// climb multiplicatively (**Source**: Plotkin, Shmoys, Tardos 1991). What is left is a MIP where it is small enough.
/// `hint`: an allowed choice, or empty.
LeastCap search_least_cap(Run& run, const std::vector<int32_t>& hint);

}  // namespace alpa::solver
