#include "alpa/solver/repeats.h"

#include <gtest/gtest.h>

#include <random>

namespace alpa::solver {
namespace {

/// `layers` equal layers, each a clique of `size` variables; the last of a layer is tied to the first of the next.
PairwiseProblem layered(int layers, int size, int strategies, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto costs = [&](int count) {
    std::vector<int64_t> result;
    for (int k = 0; k < count; ++k) result.push_back(static_cast<int64_t>(random() % 1000));
    return result;
  };
  std::vector<std::vector<int64_t>> unaries;
  for (int k = 0; k < size; ++k) unaries.push_back(costs(strategies));
  std::vector<std::vector<int64_t>> tables;
  for (int k = 0; k <= size * size; ++k) tables.push_back(costs(strategies * strategies));
  PairwiseProblem problem;
  for (int layer = 0; layer < layers; ++layer) {
    const int first = layer * size;
    for (int a = 0; a < size; ++a) {
      problem.unary.push_back(unaries[size_t(a)]);
      for (int b = a + 1; b < size; ++b) problem.pairs.push_back({first + a, first + b, tables[size_t(a * size + b)]});
    }
    if (layer > 0) problem.pairs.push_back({first - 1, first, tables.back()});
  }
  return problem;
}

int64_t steps_done(const EliminationPlan& plan) {
  int64_t done = 0;
  for (size_t k = 0; k < plan.same_as.size(); ++k) done += plan.same_as[k] == static_cast<int32_t>(k);
  return done;
}

TEST(Repeats, LayersAreSolvedOnce) {
  const PairwiseProblem problem = layered(40, 5, 4, 1);
  const auto plan = plan_elimination(problem, {1 << 20, 1 << 30}, false);
  ASSERT_TRUE(plan.has_value());
  EXPECT_LT(steps_done(*plan), 200 / 2);
  EliminationPlan alone = *plan;
  alone.same_as.clear();
  const EliminationResult shared = run_elimination(problem, *plan);
  const EliminationResult apart = run_elimination(problem, alone);
  EXPECT_EQ(shared.cost, apart.cost);
  EXPECT_EQ(shared.labels, apart.labels);
  EXPECT_EQ(run_elimination(problem, *plan, 2).labels, apart.labels);
}

TEST(Repeats, OneOtherNumberIsToldApart) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    PairwiseProblem problem = layered(12, 4, 3, seed);
    std::mt19937_64 random(seed);
    problem.pairs[random() % problem.pairs.size()].costs[random() % 9] = 0;
    problem.unary[random() % problem.unary.size()][random() % 3] += 500;
    const auto plan = plan_elimination(problem, {1 << 20, 1 << 30}, false);
    EliminationPlan alone = *plan;
    alone.same_as.clear();
    EXPECT_EQ(run_elimination(problem, *plan).cost, run_elimination(problem, alone).cost) << seed;
    EXPECT_EQ(run_elimination(problem, *plan).labels, run_elimination(problem, alone).labels) << seed;
  }
}

TEST(Repeats, ABudgetCountsThemOnce) {
  const PairwiseProblem many = layered(100, 6, 5, 3);
  const PairwiseProblem few = layered(4, 6, 5, 3);
  const auto fits = [](const PairwiseProblem& problem, int64_t work) {
    return plan_elimination(problem, {1 << 20, work}, false).has_value();
  };
  int64_t work = 1;
  while (!fits(few, work)) work *= 2;
  EXPECT_TRUE(fits(many, 4 * work));
}

}  // namespace
}  // namespace alpa::solver
