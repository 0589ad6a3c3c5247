#include "alpa/planner/intra/intra.h"

#include <fmt/format.h>

#include <algorithm>

#include "alpa/base/amount.h"
#include "alpa/base/error.h"
#include "alpa/planner/intra/problem_builder.h"
#include "alpa/planner/intra/propagate.h"
#include "alpa/solver/evaluate.h"

namespace alpa::planner {
namespace {

using sharding::ShardingSpec;

[[noreturn]] void raise_infeasible(const IntraRequest& request, const solver::Solution& solution) {
  if (solution.least_cap < 0) {
    raise<InfeasibleError>("planner", "no plan on the mesh {} does all that is asked: ask for less",
                           request.collectives.logical_mesh().to_string());
  }
  const std::string text =
      fmt::format("[planner] no plan {} into {} a device on the mesh {}: by the problem's own count the least is {}",
                  solution.proved_infeasible ? "fits" : "was found that fits",
                  amount_of_memory(request.memory_cap_bytes.value_or(0)),
                  request.collectives.logical_mesh().to_string(), amount_of_memory(solution.least_cap));
  throw InfeasibleError(text, solution.least_cap, solution.proved_infeasible);
}

solver::Solution evaluated(const solver::Problem& problem, std::vector<int32_t> choice) {
  solver::Solution solution;
  solution.choice = std::move(choice);
  const solver::Evaluation evaluation = solver::evaluate(problem, solution.choice);
  if (evaluation.forbidden) return solution;  // by a collective that must not be used, for instance
  solution.feasible = evaluation.feasible();
  solution.objective = evaluation.objective;
  solution.bound = 0;  // nothing was searched for its cost, so nothing is proved
  solution.peak_usage = solution.least_cap = solution.least_cap_bound = static_cast<int64_t>(evaluation.peak_usage);
  return solution;
}

// What follows from the placements of the inputs is the whole answer.
solver::Solution follow_inputs(const IntraRequest& request, const IntraProblem& built, cost::ReshardModel& reshard) {
  solver::Solution solution = evaluated(built.problem, propagate(request, built, reshard));
  solution.proved_infeasible = !solution.feasible;
  return solution;
}

std::vector<int32_t> what_follows_from_start(const IntraRequest& request, const IntraProblem& built,
                                             cost::ReshardModel& reshard) {
  IntraRequest start = request;
  start.pinned_inputs = request.start_inputs;
  return propagate(start, built, reshard);
}

bool divided(const ShardingSpec& spec) {
  return std::any_of(spec.dims.begin(), spec.dims.end(), [](const sharding::Tile& tile) { return !tile.empty(); });
}

// Where `start` divides an operand, or a loop's carry, forbids the strategies that take it otherwise.
void keep_divided_operands(const IntraRequest& request, const std::vector<int32_t>& start, IntraProblem& built) {
  for (size_t id = 0; id < built.tables.size(); ++id) {
    if (built.node_of[id] < 0 || request.graph.nodes[id].kind == hlo::Node::Kind::kInput) continue;
    const auto number = static_cast<size_t>(built.node_of[id]);
    const bool operation = request.graph.nodes[id].kind == hlo::Node::Kind::kOperation;
    const auto lies = [&](const Strategy& strategy) { return operation ? strategy.operands : strategy.results; };
    const std::vector<Strategy>& strategies = built.tables[id]->strategies;
    const std::vector<ShardingSpec> kept = lies(strategies[static_cast<size_t>(start[number])]);
    if (std::none_of(kept.begin(), kept.end(), divided)) continue;
    for (size_t k = 0; k < strategies.size(); ++k) {
      if (lies(strategies[k]) != kept) built.problem.nodes[number].costs[k] = solver::kForbidden;
    }
  }
}

// The whole of what is to be divided, as the start has it.
std::vector<int32_t> undivided_start(const IntraRequest& request, cost::ReshardModel& reshard) {
  IntraRequest whole = request;
  whole.divisions.clear();
  return what_follows_from_start(whole, build_problem(whole, reshard), reshard);
}

// Collectives of one kind are combined later: bytes tell, not latency.
solver::Solution divide_updates(const IntraRequest& request, const IntraProblem& built, cost::ReshardModel& reshard) {
  const cost::CollectiveModel of_bytes = request.collectives.by_bytes();
  cost::ReshardModel reshard_bytes(of_bytes);
  const IntraRequest by_bytes{.module = request.module,
                              .graph = request.graph,
                              .collectives = of_bytes,
                              .pinned_inputs = request.pinned_inputs,
                              .feeds = request.feeds,
                              .pins = request.pins,
                              .pinned_outputs = request.pinned_outputs,
                              .micro_batches = request.micro_batches,
                              .input_copies = request.input_copies,
                              .memory_cap_bytes = request.memory_cap_bytes,
                              .device_memory_bytes = request.device_memory_bytes,
                              .search = request.search,
                              .whole_contractions = request.whole_contractions,
                              .divisions = request.divisions,
                              .start_inputs = request.start_inputs,
                              .solver = request.solver};
  IntraProblem bytes = build_problem(by_bytes, reshard_bytes);
  keep_divided_operands(request, undivided_start(request, reshard), bytes);
  solver::Solution solution = solver::solve(bytes.problem, request.solver);
  return solution.feasible ? evaluated(built.problem, std::move(solution.choice)) : solution;
}

solver::Solution optimize(const IntraRequest& request, const IntraProblem& built, cost::ReshardModel& reshard) {
  solver::Options options = request.solver;
  if (!request.start_inputs.empty()) options.warm_start = what_follows_from_start(request, built, reshard);
  return solver::solve(built.problem, options);
}

solver::Solution solve(const IntraRequest& request, const IntraProblem& built, cost::ReshardModel& reshard) {
  switch (request.search) {
    case Search::kOptimize: return optimize(request, built, reshard);
    case Search::kPropagate: return follow_inputs(request, built, reshard);
    case Search::kDivideUpdates: return divide_updates(request, built, reshard);
  }
  raise<InternalError>("planner", "unknown search");
}

}  // namespace

Assignment plan_intra(const IntraRequest& request) {
  cost::ReshardModel reshard(request.collectives);
  IntraProblem built = build_problem(request, reshard);
  const solver::Solution solution = solve(request, built, reshard);
  if (!solution.feasible) raise_infeasible(request, solution);
  Assignment result;
  result.tables = std::move(built.tables);
  for (const int32_t node : built.node_of)
    result.choice.push_back(node < 0 ? -1 : solution.choice[static_cast<size_t>(node)]);
  result.objective_seconds = static_cast<double>(solution.objective) * built.unit_seconds;
  result.bound_seconds = static_cast<double>(solution.bound) * built.unit_seconds;
  result.memory_bytes = solution.peak_usage;
  result.statistics = solution.stats;
  if (request.keep_problem) result.answered = {std::move(built.problem), solution.choice};
  return result;
}

}  // namespace alpa::planner
