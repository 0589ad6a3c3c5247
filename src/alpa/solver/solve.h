#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alpa/solver/cost.h"
#include "alpa/solver/problem.h"

namespace alpa::solver {

/// Where a solve stands; handed to Options::progress after its phases and when the objective falls. What tasks that run
/// beside each other find is told task by task, so that the order is always the same; `seconds` is when it was found.
struct Progress {
  std::string phase;
  double seconds = 0;             ///< Since the call of solve.
  std::optional<Cost> objective;  ///< Of the best choice so far that is allowed and fits.
  Cost bound = 0;                 ///< No choice costs less.
};

/// How long and how well to search. Budgets are counts, so that the same input gives the same output; the clock is only
/// the last guard, and an answer is reproducible when it did not strike (Statistics::out_of_time).
struct Options {
  double relative_gap = 0.0;        ///< Stop when (objective - bound) / objective is proved to be at most this.
  double time_limit_seconds = 600;  ///< The last guard.
  int64_t table_entries = 1 << 23;  ///< Largest table of the exact dynamic programme.
  int64_t work = 1'500'000'000;     ///< Elementary operations of one exact dynamic programme.
  int64_t search_rounds = 12;       ///< Rounds of bound, local search and fixing.
  int64_t intense_rounds = 0;       ///< Further rounds under a usage limit, each with more search than the one before.
  int64_t branch_nodes = 20'000;    ///< Nodes of one branch and bound.
  int64_t hub_work = 400'000'000'000;  ///< Elementary operations of a proof by deciding hubs, where no gap may stay.
  /// The same, where a gap may stay: what can be proved optimal with that little is. 0: the gap is enough.
  int64_t easy_proof_work = 0;
  int64_t mip_entries = 120'000;  ///< Largest sum of table entries for which a MIP is tried.
  uint64_t seed = 1;              ///< Of the local search.
  int threads = 0;                ///< Most that may be used, 0: all cores. The answer does not depend on it.
  std::optional<std::vector<int32_t>> warm_start;  ///< A choice to start from; ignored where it is not feasible.
  std::function<void(const Progress&)> progress;
};

struct Statistics {
  /// Size of the problem after a phase, in order.
  struct Size {
    std::string after;
    int64_t nodes = 0;  ///< With more than one strategy left.
    int64_t edges = 0;
    int64_t entries = 0;  ///< Summed over the edges' tables.
  };
  std::vector<Size> sizes;
  std::vector<std::pair<std::string, double>> seconds;  ///< A phase and its time, in order.
  void append(const Statistics& other);                 ///< What came after.

  bool out_of_time = false;           ///< The time limit cut the search: another run may answer otherwise.
  bool floating_point_proof = false;  ///< The bound rests on HiGHS in double precision, else on integers alone.
};

struct Solution {
  bool feasible = false;           ///< `choice` is allowed and fits.
  bool proved_infeasible = false;  ///< No choice is allowed and fits.
  std::vector<int32_t> choice;     ///< One strategy a node; when not feasible that of the least peak known, or empty.
  Cost objective = 0;              ///< Of `choice`, as `evaluate` says.
  Cost bound = 0;                  ///< No feasible choice costs less.
  double gap = 0;                  ///< (objective - bound) / objective; 0 when both are 0; 1 when not feasible.
  int64_t peak_usage = 0;          ///< Of `choice`, in bytes.
  /// The smallest usage limit for which a choice is known, in bytes: the peak of the best choice found. Searched for
  /// only when not feasible; -1 when no allowed choice is known.
  int64_t least_cap = -1;
  int64_t least_cap_bound = 0;  ///< No usage limit below this is feasible, in bytes.
  Statistics stats;

  bool optimal() const { return feasible && objective == bound; }
};

/// Finds a choice of least cost within the usage limit, with a proved lower bound.
///
/// Infeasibility is an answer, not an error. Errors: InvalidArgumentError on a malformed problem (as `check`) and on a
/// warm start of the wrong size.
Solution solve(const Problem& problem, const Options& options = {});

}  // namespace alpa::solver
