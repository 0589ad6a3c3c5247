#include "alpa/solver/solve.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "alpa/base/output_file.h"
#include "alpa/solver/evaluate.h"
#include "alpa/solver/iopddl.h"
#include "command.h"
#include "format.h"
#include "outputs.h"
#include "progress.h"

namespace alpa::tool {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMipEntries = 600'000;  // more than planning has time for

constexpr const char* kExamples =
    "Examples:\n"
    "  alpa solve instance.json.gz --time-limit 300 --json answer.json\n"
    "  alpa solve instance.json --gap 0.01\n"
    "\n"
    "Instances have the public IOPDDL form. Exit status: 0 a feasible solution; 1 proved infeasible, none found, or "
    "bad input.";

struct SolveOptions {
  std::string instance;
  std::string json;
  double time_limit = 600;
  double gap = 0;
  int64_t threads = 0;
  int64_t rounds = 1'000;
  uint64_t seed = 1;
};

/// Exact: a string above 2^53.
Json integer(solver::Cost value) {
  constexpr solver::Cost kExactInDouble = solver::Cost{1} << 53;
  if (value <= kExactInDouble && value >= -kExactInDouble) return static_cast<int64_t>(value);
  return solver::to_string(value);
}

std::string percent(double gap) { return fmt::format("{:.4g} %", 100 * gap); }

double gap_of(const solver::Progress& at) {
  if (!at.objective || *at.objective <= 0) return at.objective ? 0 : 1;
  return static_cast<double>(*at.objective - at.bound) / static_cast<double>(*at.objective);
}

Json log_entry(const solver::Progress& at) {
  return {{"phase", at.phase},
          {"seconds", at.seconds},
          {"objective", at.objective ? integer(*at.objective) : Json(nullptr)},
          {"bound", integer(at.bound)}};
}

std::string answer_json(const solver::Solution& solution, double seconds, const Json& log) {
  Json json;
  json["solution"] = solution.choice;
  json["feasible"] = solution.feasible;
  json["proved_infeasible"] = solution.proved_infeasible;
  json["optimal"] = solution.optimal();
  json["floating_point_proof"] = solution.stats.floating_point_proof;
  json["objective"] = solution.feasible ? integer(solution.objective) : Json(nullptr);
  json["bound"] = integer(solution.bound);
  json["gap"] = solution.gap;
  json["peak_usage"] = integer(solution.peak_usage);
  if (!solution.feasible) {
    json["least_cap"] = solution.least_cap < 0 ? Json(nullptr) : integer(solution.least_cap);
    json["least_cap_bound"] = integer(solution.least_cap_bound);
  }
  json["seconds"] = seconds;
  json["out_of_time"] = solution.stats.out_of_time;
  json["log"] = log;
  return json.dump() + "\n";
}

/// What the bound rests on, where it proves something.
std::string proof_text(const solver::Solution& solution) {
  if (!solution.optimal()) return "";
  return solution.stats.floating_point_proof ? "  (optimal, as proved by HiGHS in double precision)"
                                             : "  (proved optimal, in integers alone)";
}

void print_answer(const SolveOptions& options, const solver::Problem& problem, const solver::Solution& solution,
                  double seconds) {
  fmt::print("{}: {} nodes, {} edges, {}\n\n", options.instance,
             format_count(static_cast<double>(problem.nodes.size())),
             format_count(static_cast<double>(problem.edges.size())),
             problem.usage_limit ? "usage limit " + format_bytes(static_cast<double>(*problem.usage_limit))
                                 : "no usage limit");
  Table table({{"after"}, {"free nodes", true}, {"edges", true}, {"table entries", true}});
  for (const auto& size : solution.stats.sizes) {
    table.add({size.after, format_count(static_cast<double>(size.nodes)), format_count(static_cast<double>(size.edges)),
               format_count(static_cast<double>(size.entries))});
  }
  if (!table.empty()) fmt::print("{}\n", table.text());
  if (!solution.feasible) return;
  fmt::print("  objective   {}{}\n  bound       {}\n  gap         {}\n  peak usage  {}\n  time        {}\n",
             solver::to_string(solution.objective), proof_text(solution), solver::to_string(solution.bound),
             percent(solution.gap), format_bytes(static_cast<double>(solution.peak_usage)), format_seconds(seconds));
}

[[noreturn]] void fail_infeasible(const SolveOptions& options, const solver::Problem& problem,
                                  const solver::Solution& solution) {
  const int64_t limit = problem.usage_limit.value_or(0);
  if (solution.least_cap < 0) {
    raise<InfeasibleError>("solve", "{}: {}; loosen the forbidden costs", options.instance,
                           solution.proved_infeasible ? "proved infeasible: every choice has a forbidden cost"
                                                      : "no choice without a forbidden cost was found");
  }
  raise<InfeasibleError>(
      "solve",
      "{}: {} within the usage limit of {} bytes: the least limit with a known solution is {} bytes, below {} "
      "none can exist; raise usage_limit{}",
      options.instance, solution.proved_infeasible ? "proved infeasible" : "no solution was found", limit,
      solution.least_cap, solution.least_cap_bound, solution.proved_infeasible ? "" : " or --time-limit");
}

int run(const SolveOptions& options) {
  check_outputs({{"--json", options.json}}, {{"INSTANCE", options.instance}});
  Progress progress;
  progress.show("reading " + options.instance);
  const solver::Problem problem = solver::read_problem(options.instance);
  Json log = Json::array();
  solver::Options settings;
  settings.relative_gap = options.gap;
  settings.time_limit_seconds = options.time_limit;
  settings.seed = options.seed;
  settings.threads = static_cast<int>(options.threads);
  settings.intense_rounds = options.rounds;
  settings.mip_entries = kMipEntries;
  settings.progress = [&](const solver::Progress& at) {
    log.push_back(log_entry(at));
    progress.show(fmt::format("{} {}  objective {}  bound {}  gap {}", format_seconds(at.seconds), at.phase,
                              at.objective ? solver::to_string(*at.objective) : "none yet", solver::to_string(at.bound),
                              percent(gap_of(at))));
  };
  const auto start = std::chrono::steady_clock::now();
  const solver::Solution solution = solver::solve(problem, settings);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  progress.clear();
  if (solution.feasible) {
    const solver::Evaluation checked = solver::evaluate(problem, solution.choice);
    require<InternalError>(checked.feasible() && checked.objective == solution.objective, "solve",
                           "the solution does not stand its check: please report this instance");
  }
  if (!options.json.empty()) write_files({{options.json, answer_json(solution, seconds, log)}});
  print_answer(options, problem, solution, seconds);
  if (!solution.feasible) fail_infeasible(options, problem, solution);
  return 0;
}

}  // namespace

Command add_solve(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("solve", "Solves a placement problem in the public IOPDDL form, with a proved bound");
  auto options = std::make_shared<SolveOptions>();
  app->footer(kExamples);
  app->add_option("INSTANCE", options->instance, "The instance: JSON, plain or .gz")->required();
  app->add_option("--time-limit", options->time_limit, "Most seconds to search")
      ->default_str("600")
      ->check(number_within(0, 1e7));
  app->add_option("--gap", options->gap, "Stop when (objective - bound) / objective is proved to be at most this")
      ->default_str("0")
      ->check(number_within(0, 1));
  app->add_option("--threads", options->threads,
                  "Most threads that may be used, 0: all cores; the answer does not depend on it")
      ->default_str("0")
      ->check(CLI::Range(0, 1024));
  app->add_option(
         "--rounds", options->rounds,
         "Most rounds of ever longer search after the usual ones, until the time limit; equal input and rounds "
         "give equal output where the time limit does not strike")
      ->default_str("1000")
      ->check(CLI::Range(0, 1'000'000));
  app->add_option("--seed", options->seed, "Of the local search")->default_str("1");
  app->add_option("--json,--out", options->json,
                  "Writes solution, objective, bound, feasibility, seconds and log as JSON");
  return {app, [options] { return run(*options); }};
}

}  // namespace alpa::tool
