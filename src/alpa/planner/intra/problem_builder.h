#pragma once

#include <memory>
#include <vector>

#include "alpa/planner/intra/intra.h"
#include "alpa/solver/problem.h"

namespace alpa::planner {

/// The intra-operator problem in IOPDDL form: one node for each node of the graph that is no generator, its strategies
/// those of its table; edges carry the seconds of a change of placement. Usages are bytes on
/// one device.
struct IntraProblem {
  solver::Problem problem;
  double unit_seconds = 1e-12;  ///< Of its costs; more than a picosecond only where a cost is above 100 seconds.
  std::vector<std::shared_ptr<const StrategyTable>> tables;  ///< By graph node; null for generators.
  std::vector<int32_t> node_of;                              ///< By graph node: the problem's node, or -1.
  std::vector<int> followed;  ///< By graph node: the operand whose placement it takes, or -1.
};

/// An elementwise operation takes the placement of the operand that was computed last (the deepest), if that is itself
/// elementwise or an input: that edge is forbidden but for equal specs, and the solver contracts it. So is that of a
/// barrier: what it holds lies as it was given, and changes of placement come after it.
/// Source: "following" in Alpa, OSDI'22, §4.2.
IntraProblem build_problem(const IntraRequest& request, cost::ReshardModel& reshard);

}  // namespace alpa::planner
