#include "alpa/planner/intra/intra.h"

#include "alpa/base/error.h"
#include "alpa/planner/intra/problem_builder.h"

namespace alpa::planner {
namespace {

double to_seconds(solver::Cost cost) { return static_cast<double>(cost) * 1e-12; }

double gib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

[[noreturn]] void raise_infeasible(const IntraRequest& request, const solver::Solution& solution) {
  const double cap = gib(request.memory_cap_bytes.value_or(0));
  if (solution.least_cap < 0) {
    raise<InfeasibleError>("planner", "no placement satisfies the constraints: loosen --constraint");
  }
  raise<InfeasibleError>("planner", "no plan {} into {:.3f} GiB a device on the mesh {}: the least memory that would do is {:.3f} GiB "
                         "({} bytes; below {:.3f} GiB none can exist); raise --memory-gb or use more devices",
                         solution.proved_infeasible ? "fits" : "was found that fits", cap,
                         request.collectives.logical_mesh().to_string(), gib(solution.least_cap), solution.least_cap,
                         gib(solution.least_cap_bound));
}

}  // namespace

Assignment plan_intra(const IntraRequest& request) {
  cost::ReshardModel reshard(request.collectives);
  IntraProblem built = build_problem(request, reshard);
  const solver::Solution solution = solver::solve(built.problem, request.solver);
  if (!solution.feasible) raise_infeasible(request, solution);
  Assignment result;
  result.tables = std::move(built.tables);
  for (const int32_t node : built.node_of) result.choice.push_back(node < 0 ? -1 : solution.choice[static_cast<size_t>(node)]);
  result.objective_seconds = to_seconds(solution.objective);
  result.bound_seconds = to_seconds(solution.bound);
  result.memory_bytes = solution.peak_usage;
  result.statistics = solution.stats;
  return result;
}

}  // namespace alpa::planner
