#include "alpa/solver/solve.h"

#include <gtest/gtest.h>

#include "alpa/base/error.h"
#include "alpa/solver/brute_force.h"
#include "alpa/solver/evaluate.h"
#include "alpa/solver/iopddl.h"
#include "alpa/solver/transformer_problem.h"

namespace alpa::solver {
namespace {

using testing::random_problem;
using testing::Shape;
using testing::Truth;
using testing::try_all;

/// Everything a solution promises, against the truth.
void expect_true(const Problem& problem, const Solution& solution, const std::string& name) {
  SCOPED_TRACE(name);
  const Truth truth = try_all(problem);
  ASSERT_EQ(solution.feasible, truth.objective.has_value());
  EXPECT_EQ(solution.proved_infeasible, !truth.objective.has_value());
  if (truth.objective) {
    const Evaluation evaluation = evaluate(problem, solution.choice);
    EXPECT_TRUE(evaluation.feasible());
    EXPECT_TRUE(evaluation.objective == solution.objective);
    EXPECT_EQ(to_string(solution.objective), to_string(*truth.objective));
    EXPECT_TRUE(solution.bound <= *truth.objective);
    EXPECT_TRUE(solution.optimal());
    EXPECT_EQ(solution.gap, 0);
    return;
  }
  if (!truth.least_peak) {
    EXPECT_EQ(solution.least_cap, -1);
    return;
  }
  EXPECT_EQ(solution.least_cap, *truth.least_peak);
  EXPECT_LE(solution.least_cap_bound, *truth.least_peak);
  const Evaluation evaluation = evaluate(problem, solution.choice);
  EXPECT_FALSE(evaluation.forbidden);
  EXPECT_EQ(evaluation.peak_usage, solution.least_cap);
}

class RandomShape : public ::testing::TestWithParam<int> {};

TEST_P(RandomShape, AgreesWithBruteForce) {
  const Shape shapes[] = {
      {6, 3, 0.4, 0.2, 50, std::nullopt},   // no limit
      {7, 3, 0.9, 0.1, 50, std::nullopt},   // dense, parallel edges
      {8, 3, 0.15, 0.3, 50, std::nullopt},  // disconnected
      {5, 4, 0.8, 0.55, 50, std::nullopt},  // often infeasible
      {6, 3, 0.5, 0.15, 50, 0.6},           // limit that binds now and then
      {7, 3, 0.4, 0.1, 50, 0.4},            // limit that binds
      {6, 3, 0.6, 0.2, 50, 0.25},           // limit that is often too small
      {6, 4, 0.5, 0.2, 3, 0.45},            // ties
  };
  const Shape& shape = shapes[GetParam() % 8];
  for (uint64_t k = 0; k < 60; ++k) {
    const uint64_t seed = uint64_t(GetParam()) * 1000 + k;
    const Problem problem = random_problem(shape, seed);
    expect_true(problem, solve(problem), "shape " + std::to_string(GetParam()) + " seed " + std::to_string(seed));
  }
}

TEST_P(RandomShape, KeepsItsBoundBelowTheOptimumWhereAGapMayStay) {
  const Shape shapes[] = {
      {8, 3, 0.6, 0.15, 50, std::nullopt},
      {8, 3, 0.9, 0.1, 50, std::nullopt},
      {7, 3, 0.5, 0.1, 50, 0.4},
      {7, 3, 0.7, 0.15, 50, 0.5},
  };
  Options options;
  options.relative_gap = 0.02 * double(1 + GetParam() * GetParam());
  for (uint64_t k = 0; k < 60; ++k) {
    const Problem problem = random_problem(shapes[k % 4], 100'000 + uint64_t(GetParam()) * 1000 + k);
    const Truth truth = try_all(problem);
    const Solution solution = solve(problem, options);
    ASSERT_EQ(solution.feasible, truth.objective.has_value()) << k;
    if (!truth.objective) continue;
    EXPECT_TRUE(evaluate(problem, solution.choice).feasible());
    EXPECT_TRUE(solution.bound <= *truth.objective) << k;
    EXPECT_LE(solution.gap, options.relative_gap) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Solve, RandomShape, ::testing::Range(0, 8));

TEST(Solve, FindsTheOptimumOfThePublicExample) {
  const Problem problem = read_problem(ALPA_TEST_DATA "/iopddl/example.json");
  const Truth truth = try_all(problem);
  const Solution solution = solve(problem);
  ASSERT_TRUE(solution.optimal());
  EXPECT_TRUE(solution.objective == *truth.objective);
  EXPECT_LE(solution.peak_usage, 50);
}

TEST(Solve, TakesAnEmptyProblem) {
  const Solution solution = solve(Problem{});
  EXPECT_TRUE(solution.optimal());
  EXPECT_TRUE(solution.choice.empty());
}

TEST(Solve, RejectsAMalformedProblem) {
  Problem problem;
  problem.nodes.resize(1);
  EXPECT_THROW(solve(problem), InvalidArgumentError);
}

TEST(Solve, RejectsAWarmStartOfTheWrongSize) {
  Options options;
  options.warm_start = std::vector<int32_t>{0};
  EXPECT_THROW(solve(Problem{}, options), InvalidArgumentError);
}

TEST(Solve, KeepsCostsNearTheForbiddenValueApart) {
  Problem problem;
  problem.nodes.assign(12, {0, 1, {kForbidden - 1, kForbidden - 2, kForbidden}, {1, 1, 1}});
  const Solution solution = solve(problem);
  ASSERT_TRUE(solution.feasible);
  const Cost least = Cost(12) * (kForbidden - 2);
  EXPECT_TRUE(solution.bound <= least);
  EXPECT_TRUE(solution.objective >= least);
  EXPECT_LT(solution.gap, 1e-12);
}

TEST(Solve, SolvesATransformerOf96LayersExactly) {
  const Problem problem = testing::transformer_problem(96, 4, 1);
  const Solution solution = solve(problem);
  EXPECT_GT(problem.nodes.size(), 30'000u);
  EXPECT_TRUE(solution.optimal());
  EXPECT_FALSE(solution.stats.floating_point_proof);
}

TEST(Solve, HonoursALimitOnATransformer) {
  Problem problem = testing::transformer_problem(2, 6, 1);
  const Solution free = solve(problem);
  problem.usage_limit = free.peak_usage * 8 / 10;
  const Solution capped = solve(problem);
  ASSERT_TRUE(capped.feasible);
  EXPECT_LE(capped.peak_usage, *problem.usage_limit);
  EXPECT_TRUE(capped.bound >= free.bound);
  EXPECT_LT(capped.gap, 0.01);
}

TEST(Solve, ReportsTheLeastLimitOfATransformer) {
  Problem problem = testing::transformer_problem(2, 6, 1);
  problem.usage_limit = 1;
  const Solution solution = solve(problem);
  EXPECT_TRUE(solution.proved_infeasible);
  EXPECT_GT(solution.least_cap, 1);
  EXPECT_LE(solution.least_cap_bound, solution.least_cap);
  problem.usage_limit = solution.least_cap;
  EXPECT_TRUE(solve(problem).feasible);
}

TEST(Solve, StartsFromAWarmStart) {
  const Problem problem = random_problem({8, 3, 0.4, 0.1, 50, std::nullopt}, 11);
  Options options;
  options.warm_start = solve(problem).choice;
  options.time_limit_seconds = 0;
  const Solution solution = solve(problem, options);
  EXPECT_TRUE(solution.feasible);
  EXPECT_TRUE(solution.objective == *try_all(problem).objective);
  EXPECT_TRUE(solution.bound <= solution.objective);
}

TEST(Solve, GivesTheSameBytesTwice) {
  const Problem problem = random_problem({60, 5, 0.1, 0.05, 1000, 0.3}, 7);
  const Solution first = solve(problem);
  const Solution second = solve(problem);
  EXPECT_EQ(print_choice(first.choice), print_choice(second.choice));
  EXPECT_EQ(to_string(first.bound), to_string(second.bound));
}

}  // namespace
}  // namespace alpa::solver
