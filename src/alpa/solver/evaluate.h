#pragma once

#include <cstdint>
#include <span>

#include "alpa/solver/cost.h"
#include "alpa/solver/problem.h"

namespace alpa::solver {

/// What a choice costs and uses, from the problem's own numbers.
struct Evaluation {
  Cost objective = 0;      ///< Sum of node and edge costs; forbidden entries count with the value written in them.
  bool forbidden = false;  ///< Some chosen entry is at or above kForbidden.
  Cost peak_usage = 0;     ///< Largest summed usage at a time step, in bytes; 0 when no node lives.
  int64_t worst_time = 0;  ///< First time step that reaches the peak.
  bool fits = true;        ///< Peak within the usage limit, or no limit.

  bool feasible() const { return fits && !forbidden; }
};

/// Recomputes everything about `choice` (one strategy a node) independently of how the solver found it.
/// Errors: InvalidArgumentError when the choice's size or a strategy is out of range. **Cost**: O(V log V + E).
Evaluation evaluate(const Problem& problem, std::span<const int32_t> choice);

}  // namespace alpa::solver
