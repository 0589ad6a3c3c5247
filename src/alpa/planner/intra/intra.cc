#include "alpa/planner/intra/intra.h"

#include <fmt/format.h>

#include "alpa/base/error.h"
#include "alpa/planner/intra/problem_builder.h"
#include "alpa/planner/intra/propagate.h"
#include "alpa/solver/evaluate.h"

namespace alpa::planner {
namespace {

std::string amount(int64_t bytes) {
  if (bytes < int64_t{1} << 20) return fmt::format("{} bytes", bytes);
  return fmt::format("{:.4g} GiB ({} bytes)", static_cast<double>(bytes) / (1 << 30), bytes);
}

[[noreturn]] void raise_infeasible(const IntraRequest& request, const solver::Solution& solution) {
  if (solution.least_cap < 0) {
    raise<InfeasibleError>("planner", "no placement satisfies the constraints: loosen --constraint");
  }
  const std::string text = fmt::format(
      "[planner] no plan {} into {} a device on the mesh {}: the least memory that would do is {}{}; raise --memory-gb "
      "or use more devices",
      solution.proved_infeasible ? "fits" : "was found that fits", amount(request.memory_cap_bytes.value_or(0)),
      request.collectives.logical_mesh().to_string(), amount(solution.least_cap),
      solution.least_cap_bound < solution.least_cap ? "; none exists below " + amount(solution.least_cap_bound) : "");
  throw InfeasibleError(text, solution.least_cap, solution.proved_infeasible);
}

// What follows from the placements of the inputs is the whole answer.
solver::Solution follow_inputs(const IntraRequest& request, const IntraProblem& built, cost::ReshardModel& reshard) {
  solver::Solution solution;
  solution.choice = propagate(request, built, reshard);
  const solver::Evaluation evaluation = solver::evaluate(built.problem, solution.choice);
  ALPA_CHECK(!evaluation.forbidden);
  solution.feasible = evaluation.feasible();
  solution.proved_infeasible = !solution.feasible;
  solution.objective = evaluation.objective;
  solution.bound = 0;  // nothing was searched, so nothing is proved
  solution.peak_usage = solution.least_cap = solution.least_cap_bound = static_cast<int64_t>(evaluation.peak_usage);
  return solution;
}

solver::Solution optimize(const IntraRequest& request, const IntraProblem& built, cost::ReshardModel& reshard) {
  solver::Options options = request.solver;
  if (!request.start_inputs.empty()) {
    IntraRequest start = request;
    start.pinned_inputs = request.start_inputs;
    options.warm_start = propagate(start, built, reshard);
  }
  return solver::solve(built.problem, options);
}

}  // namespace

Assignment plan_intra(const IntraRequest& request) {
  cost::ReshardModel reshard(request.collectives);
  IntraProblem built = build_problem(request, reshard);
  const solver::Solution solution =
      request.search == Search::kPropagate ? follow_inputs(request, built, reshard) : optimize(request, built, reshard);
  if (!solution.feasible) raise_infeasible(request, solution);
  Assignment result;
  result.tables = std::move(built.tables);
  for (const int32_t node : built.node_of)
    result.choice.push_back(node < 0 ? -1 : solution.choice[static_cast<size_t>(node)]);
  result.objective_seconds = static_cast<double>(solution.objective) * built.unit_seconds;
  result.bound_seconds = static_cast<double>(solution.bound) * built.unit_seconds;
  result.memory_bytes = solution.peak_usage;
  result.statistics = solution.stats;
  if (request.keep_problem) result.problem = std::move(built.problem);
  return result;
}

}  // namespace alpa::planner
