// `solve` against the exact answers of random problems, with every part of the search in turn left to do the work. Some
// hundred seeds by default; ALPA_FULL_MATRIX=1: more than twenty thousand. No two tests have seeds in common.

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "alpa/solver/brute_force.h"
#include "alpa/solver/evaluate.h"
#include "alpa/solver/iopddl.h"
#include "alpa/solver/oracle.h"
#include "alpa/solver/solve.h"

namespace alpa::solver {
namespace {

using testing::Oracle;
using testing::random_problem;
using testing::random_shape;
using testing::Shape;

/// Calls `test` with the seeds of a test, so many for each thousand of the full matrix.
void each_seed(uint64_t test_number, uint64_t per_thousand, const std::function<void(uint64_t)>& test) {
  const uint64_t count = (std::getenv("ALPA_FULL_MATRIX") != nullptr ? 3'000 : 60) * per_thousand / 1000;
  for (uint64_t k = 0; k < count && !::testing::Test::HasFatalFailure(); ++k) {
    const uint64_t seed = test_number * 1'000'000 + k;
    SCOPED_TRACE("seed " + std::to_string(seed));
    test(seed);
  }
}

/// The truth of a problem; what is asked only of infeasible ones is found when it is asked for.
struct Answer {
  explicit Answer(const Problem& problem) : objective(Oracle(problem).objective()) {
    if (!objective) least_peak = Oracle(problem).least_peak();
  }

  std::optional<Cost> objective;
  std::optional<Cost> least_peak;  ///< Of infeasible problems.
};

/// What a solution must be however little it was searched for.
void expect_honest(const Problem& problem, const Solution& solution, const Answer& answer) {
  if (solution.feasible) {
    ASSERT_TRUE(answer.objective.has_value());
    const Evaluation evaluation = evaluate(problem, solution.choice);
    EXPECT_TRUE(evaluation.feasible());
    EXPECT_EQ(to_string(evaluation.objective), to_string(solution.objective));
    EXPECT_EQ(to_string(evaluation.peak_usage), std::to_string(solution.peak_usage));
    EXPECT_TRUE(solution.objective >= *answer.objective);
  }
  if (answer.objective) {
    EXPECT_FALSE(solution.proved_infeasible);
    EXPECT_TRUE(solution.bound <= *answer.objective)
        << to_string(solution.bound) << " > " << to_string(*answer.objective);
    return;
  }
  EXPECT_FALSE(solution.feasible);
  if (!answer.least_peak) {
    EXPECT_EQ(solution.least_cap, -1);
    return;
  }
  EXPECT_TRUE(solution.least_cap_bound <= *answer.least_peak);
  EXPECT_TRUE(solution.least_cap < 0 || solution.least_cap >= *answer.least_peak);
}

void expect_exact(const Solution& solution, const Answer& answer) {
  EXPECT_EQ(solution.feasible, answer.objective.has_value());
  EXPECT_EQ(solution.proved_infeasible, !answer.objective.has_value());
  if (answer.objective) {
    EXPECT_EQ(to_string(solution.objective), to_string(*answer.objective));
    // HiGHS's bounds are a little lower than what it found, as far as its precision goes.
    EXPECT_TRUE(solution.optimal() || (solution.stats.floating_point_proof && solution.gap < 1e-8))
        << to_string(solution.bound) << " < " << to_string(*answer.objective);
  } else if (answer.least_peak) {
    EXPECT_EQ(std::to_string(solution.least_cap), to_string(*answer.least_peak));
  }
}

/// A setting under which a part of the search does the work.
struct Setting {
  std::string name;
  bool exact = false;  ///< Whether the optimum is to be proved.
  uint64_t per_thousand = 1000;
  std::function<void(Options&)> set;
  std::vector<std::string> phases;  ///< That do the work: each must, at least once.
};

void no_elimination(Options& options) { options.table_entries = options.work = 1; }

std::vector<Setting> settings() {
  return {
      {"Planner", true, 1000, [](Options&) {}, {"eliminate", "start", "price", "price and search", "least cap"}},
      {"Command",
       true,
       250,
       [](Options& options) {
         options.intense_rounds = 4;
         options.mip_entries = 600'000;
       },
       {"price and search"}},
      {"MipForElimination", true, 1000, no_elimination, {"bound", "search", "mip"}},
      {"BoundsAlone",
       false,
       1000,
       [](Options& options) {
         no_elimination(options);
         options.mip_entries = 0;
       },
       {"bound", "search", "buckets", "price and search"}},
      {"IntenseRounds",
       false,
       250,
       [](Options& options) {
         no_elimination(options);
         options.mip_entries = 0;
         options.intense_rounds = 3;
       },
       {"price"}},
      {"Hubs",
       false,
       1000,
       [](Options& options) {
         no_elimination(options);
         options.mip_entries = 0;
         options.relative_gap = 0.01;
       },
       {"hubs"}},
      {"FewNodesOfBranchAndBound",
       false,
       1000,
       [](Options& options) {
         no_elimination(options);
         options.branch_nodes = 1;
         options.search_rounds = 1;
       },
       {"mip"}},
  };
}

class RandomSolve : public ::testing::TestWithParam<size_t> {};

TEST_P(RandomSolve, AgreesWithTheOracle) {
  const Setting setting = settings()[GetParam()];
  Options options;
  setting.set(options);
  std::map<std::string, int> phases;
  each_seed(10 + GetParam(), setting.per_thousand, [&](uint64_t seed) {
    const Problem problem = random_problem(random_shape(seed), seed);
    const Answer answer(problem);
    const Solution solution = solve(problem, options);
    expect_honest(problem, solution, answer);
    if (setting.exact) expect_exact(solution, answer);
    EXPECT_FALSE(solution.stats.out_of_time);
    EXPECT_TRUE(!solution.feasible || solution.optimal() || solution.gap > 0);
    for (const auto& [phase, seconds] : solution.stats.seconds) ++phases[phase];
  });
  for (const std::string& phase : setting.phases) EXPECT_GT(phases[phase], 0) << phase;
  for (const auto& [phase, count] : phases) RecordProperty(std::regex_replace(phase, std::regex(" "), "_"), count);
}

INSTANTIATE_TEST_SUITE_P(Settings, RandomSolve, ::testing::Range(size_t{0}, settings().size()),
                         [](const auto& info) { return settings()[info.param].name; });

TEST(RandomSolve, StaysWithinTheGapAskedFor) {
  each_seed(1, 1000, [](uint64_t seed) {
    Shape shape = random_shape(seed);
    if (seed % 2 == 0) shape.forbidden = 0;  // Hubs are decided only where nothing is forbidden.
    const Problem problem = random_problem(shape, seed);
    Options options;
    if (seed % 3 > 0) no_elimination(options);
    options.relative_gap = double(1 + seed % 5) * 0.03;
    const Answer answer(problem);
    const Solution solution = solve(problem, options);
    expect_honest(problem, solution, answer);
    EXPECT_EQ(solution.feasible, answer.objective.has_value());
    EXPECT_TRUE(!solution.feasible || solution.gap <= options.relative_gap) << solution.gap;
  });
}

TEST(RandomSolve, TakesWarmStartsOfEveryKind) {
  each_seed(2, 1000, [](uint64_t seed) {
    const Problem problem = random_problem(random_shape(seed), seed);
    std::mt19937_64 random(seed);
    Options options;
    options.warm_start.emplace();
    for (const Node& node : problem.nodes) {
      options.warm_start->push_back(static_cast<int32_t>(random() % node.costs.size()));
    }
    const Answer answer(problem);
    const Solution solution = solve(problem, options);
    expect_honest(problem, solution, answer);
    expect_exact(solution, answer);
  });
}

/// All that a solution says but for the clock.
std::string told(const Problem& problem, Options options, int threads) {
  std::string text;
  options.threads = threads;
  options.progress = [&](const Progress& at) {
    text += at.phase + " " + (at.objective ? to_string(*at.objective) : "none") + " " + to_string(at.bound) + "\n";
  };
  const Solution solution = solve(problem, options);
  text += print_choice(solution.choice) + to_string(solution.objective) + " " + to_string(solution.bound) + " " +
          std::to_string(solution.least_cap) + " " + std::to_string(solution.least_cap_bound) + "\n";
  for (const Statistics::Size& size : solution.stats.sizes) {
    text += size.after + " " + std::to_string(size.nodes) + " " + std::to_string(size.entries) + "\n";
  }
  return text;
}

TEST(RandomSolve, GivesTheSameBytesOnOneThreadAndOnTwo) {
  each_seed(3, 500, [](uint64_t seed) {
    Shape shape = random_shape(seed);
    if (seed % 2 == 0) shape.forbidden = 0;
    const Problem problem = random_problem(shape, seed);
    Options options;
    options.relative_gap = seed % 4 < 2 ? 0 : 0.01;
    options.intense_rounds = seed % 3 == 0 ? 3 : 0;
    if (seed % 5 > 0) no_elimination(options);
    if (seed % 7 > 2) options.mip_entries = 0;
    EXPECT_EQ(told(problem, options, 1), told(problem, options, 2));
  });
}

TEST(Oracle, AgreesWithTryingAll) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Shape shape = random_shape(seed);
    shape.nodes = std::min(shape.nodes, 7);
    shape.strategies = std::min(shape.strategies, 4);
    const Problem problem = random_problem(shape, seed);
    const auto truth = testing::try_all(problem);
    EXPECT_TRUE(Oracle(problem).objective() == truth.objective) << seed;
    EXPECT_TRUE(Oracle(problem).least_peak() == truth.least_peak) << seed;
  }
}

}  // namespace
}  // namespace alpa::solver
