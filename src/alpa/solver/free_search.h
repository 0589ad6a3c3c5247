#pragma once

#include "alpa/solver/run.h"

namespace alpa::solver {

/// What the search without the usage limit found.
struct FreeResult {
  Incumbent incumbent;     ///< Best allowed choice, whatever its usage.
  Cost bound = 0;          ///< No allowed choice costs less.
  bool no_choice = false;  ///< Proved: every choice is forbidden.
};

/// Minimises the cost regardless of the usage limit; choices that fit become the run's best too.
///
/// Reduction, then exact dynamic programming on each component where tables allow it; else rounds of dual bound, block
/// search, decided hubs, mini-buckets and fixing of strategies whose bound passes what is still
/// looked for (Run::target), and a MIP on what remains. It stops after the first round when its best choice does not
/// fit. `start`: an allowed choice to begin with.
FreeResult search_free(Run& run, const Incumbent& start = {});

}  // namespace alpa::solver
