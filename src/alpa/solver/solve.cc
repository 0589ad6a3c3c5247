#include "alpa/solver/solve.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "alpa/solver/capped_search.h"
#include "alpa/solver/evaluate.h"
#include "alpa/solver/free_search.h"
#include "alpa/solver/least_cap.h"
#include "alpa/solver/run.h"

namespace alpa::solver {
namespace {

double gap_of(const Solution& solution) {
  if (!solution.feasible) return 1;
  if (solution.objective == solution.bound) return 0;
  return double(solution.objective - solution.bound) / double(solution.objective);
}

/// Whether the nodes can use more than the limit at some time step, each at its most.
bool limit_can_bind(const Problem& problem) {
  std::vector<int32_t> heaviest;
  for (const Node& node : problem.nodes) {
    const auto most = std::max_element(node.usages.begin(), node.usages.end());
    heaviest.push_back(static_cast<int32_t>(most - node.usages.begin()));
  }
  return evaluate(problem, heaviest).peak_usage > *problem.usage_limit;
}

/// Looks for the least usage limit that a choice fits; that may turn up a choice that fits the limit after all.
void find_least_cap(const Problem& problem, Run& run, const Incumbent& free, Solution& solution) {
  const LeastCap least = search_least_cap(run, free.choice);
  solution.least_cap_bound = least.bound;
  if (least.known) {
    solution.least_cap = least.peak;
    solution.choice = least.choice;
  }
  const bool too_big = least.bound > *problem.usage_limit;
  solution.proved_infeasible = solution.proved_infeasible || least.no_choice || too_big;
  if (run.best().known) {
    solution.proved_infeasible = false;
    if (run.near_enough(run.best(), run.bound()) || run.out_of_time()) return;
    CappedSearch search(run);
    search.start();
    search.run();
  }
}

/// The search without memory as if no gap might stay, for as long as little work allows: what is easily proved optimal
/// is.
FreeResult search_easily(const Problem& problem, Run& run) {
  Options options = run.options();
  options.relative_gap = 0;
  options.time_limit_seconds = std::max(0.0, run.seconds_left());
  options.hub_work = options.easy_proof_work;
  options.search_rounds = 1;
  options.mip_entries = 0;
  Run easy(problem, options);
  if (run.best().known) easy.offer(run.best().choice);
  FreeResult result = search_free(easy);
  easy.finish();
  run.stats().append(easy.stats());
  if (easy.best().known) run.offer(easy.best().choice);
  run.raise_bound(easy.bound());
  return result;
}

/// Without memory: the easy search first where it may be tried.
FreeResult search_without_memory(const Problem& problem, Run& run) {
  FreeResult easy;
  if (run.options().easy_proof_work > 0) easy = search_easily(problem, run);
  const bool limited = easy.incumbent.known && (!run.best().known || run.best().objective > easy.incumbent.objective);
  if (easy.no_choice || limited || run.near_enough(run.best(), run.bound())) return easy;
  return search_free(run, easy.incumbent);
}

void report(const Problem& problem, Run& run, Solution& solution) {
  run.finish();
  solution.feasible = run.best().known;
  if (solution.feasible) solution.choice = run.best().choice;
  solution.bound = run.bound();
  if (solution.choice.size() == problem.nodes.size()) {
    const Evaluation evaluation = evaluate(problem, solution.choice);
    solution.objective = evaluation.objective;
    solution.peak_usage = static_cast<int64_t>(evaluation.peak_usage);
  }
  solution.gap = gap_of(solution);
  solution.stats = std::move(run.stats());
}

}  // namespace

Solution solve(const Problem& problem, const Options& options) {
  check(problem);
  Run run(problem, options);
  Solution solution;
  if (options.warm_start) run.offer(*options.warm_start);
  const bool capped = problem.usage_limit.has_value();
  std::optional<CappedSearch> capped_search;
  if (capped && limit_can_bind(problem)) {
    capped_search.emplace(run);
    capped_search->start();
  }
  const FreeResult free = search_without_memory(problem, run);
  const bool open = !free.no_choice && !run.near_enough(run.best(), run.bound());
  if (open && capped_search) solution.proved_infeasible = capped_search->run();
  if (free.no_choice) solution.proved_infeasible = true;
  if (capped && !free.no_choice && !run.best().known) find_least_cap(problem, run, free.incumbent, solution);
  report(problem, run, solution);
  return solution;
}

}  // namespace alpa::solver
