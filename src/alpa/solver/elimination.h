#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace alpa::solver {

/// A small labelling problem, as the exact dynamic programme takes it. Forbidden is kInfinite.
struct PairwiseProblem {
  struct Pair {
    int32_t a = 0;
    int32_t b = 0;
    std::vector<int64_t> costs;  ///< Row-major, row = strategy of a.
  };
  std::vector<std::vector<int64_t>> unary;
  std::vector<Pair> pairs;
};

struct EliminationBudget {
  int64_t table_entries = 0;  ///< Of the largest table.
  /// Elementary additions; also bounds the entries of all tables, a fourth of it. A step that repeats another is free,
  /// but where variables may be frozen.
  int64_t work = 0;
};

/// An order in which the variables are minimised out, and what that takes.
struct EliminationPlan {
  std::vector<int32_t> order;
  std::vector<std::vector<int32_t>> scopes;  ///< Of each variable in `order`: its neighbours when it goes, in order.
  std::vector<int32_t> same_as;              ///< A step whose tables are the same (repeats.h); empty: not looked for.
  std::vector<int32_t> frozen;               ///< Variables that must be fixed to keep the tables small.
};

/// Min-weight order: always the variable whose table is smallest. Without `may_freeze`, nothing where the budget does
/// not suffice; with it, the variables that stand in the way are frozen.
/// **Source**: bucket elimination, Dechter 1999.
std::optional<EliminationPlan> plan_elimination(const PairwiseProblem& problem, const EliminationBudget& budget,
                                                bool may_freeze);

struct EliminationResult {
  int64_t cost = 0;  ///< kInfinite or more: every labelling is forbidden.
  std::vector<int32_t> labels;
};

/// Exact minimum by a plan that has no frozen variables, on up to `threads` threads (0: all cores).
EliminationResult run_elimination(const PairwiseProblem& problem, const EliminationPlan& plan, int threads = 1);

}  // namespace alpa::solver
