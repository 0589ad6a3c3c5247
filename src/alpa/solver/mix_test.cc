#include "alpa/solver/mix.h"

#include <gtest/gtest.h>

#include "alpa/solver/brute_force.h"
#include "alpa/solver/presolve.h"
#include "alpa/solver/prices.h"
#include "alpa/solver/solve.h"
#include "alpa/solver/transformer_problem.h"

namespace alpa::solver {
namespace {

using testing::random_problem;
using testing::try_all;

constexpr EliminationBudget kBudget{1 << 20, 1 << 28};

struct Field {
  Graph graph;
  Mrf mrf;
  MemoryRows rows;
};

std::optional<Field> field_of(const Problem& problem) {
  Graph graph(problem, true);
  presolve(graph);
  if (graph.infeasible()) return std::nullopt;
  Mrf mrf = snapshot(graph);
  MemoryRows rows = memory_rows(problem, graph, mrf, *problem.usage_limit);
  return Field{std::move(graph), std::move(mrf), std::move(rows)};
}

std::vector<double> random_prices(const MemoryRows& rows, std::mt19937_64& random) {
  std::vector<double> price;
  for (int32_t r = 0; r < rows.size(); ++r) price.push_back(double(random() % 400) / 100);
  return price;
}

TEST(PricedExact, BoundsWhatFitsAndIsBestAtItsPrices) {
  int met = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Problem problem = random_problem({8, 4, 0.6, 0.1, 5000, 0.5}, seed);
    const auto truth = try_all(problem);
    const auto field = field_of(problem);
    if (!truth.objective || !field) continue;
    std::mt19937_64 random(seed);
    const PricedExact exact(field->mrf, field->rows, *problem.usage_limit, kBudget, 1);
    const std::vector<double> price = random_prices(field->rows, random);
    const auto optimum = exact.at(price);
    ASSERT_TRUE(optimum.has_value()) << seed;
    EXPECT_TRUE(optimum->bound <= *truth.objective) << seed;
    EXPECT_EQ(cost_of(field->mrf, optimum->labels).forbidden, 0) << seed;
    // What its labelling costs at the prices is what the bound says, but for rounding.
    double priced = double(cost_of(field->mrf, optimum->labels).cost);
    const std::vector<int64_t> usage = usage_of(field->rows, optimum->labels);
    for (int32_t r = 0; r < field->rows.size(); ++r) {
      priced += price[size_t(r)] * (double(usage[size_t(r)]) - double(*problem.usage_limit));
    }
    EXPECT_NEAR(double(optimum->bound), priced, 10) << seed;
    ++met;
  }
  EXPECT_GT(met, 50);
}

TEST(PricedExact, ScalesPricesToTheBestBound) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Problem problem = random_problem({8, 4, 0.6, 0.1, 5000, 0.5}, seed);
    const auto field = field_of(problem);
    if (!field || field->rows.size() == 0) continue;
    std::mt19937_64 random(seed);
    const PricedExact exact(field->mrf, field->rows, *problem.usage_limit, kBudget, 1);
    const std::vector<double> price = random_prices(field->rows, random);
    const auto best = exact.best_scale(price, 60);
    ASSERT_TRUE(best.has_value());
    for (const double scale : {0.0, 0.5, 0.9, 1.0, 1.1, 2.0, 8.0}) {
      EXPECT_LE(double(exact.at(scaled(price, scale))->bound), best->bound + 10) << seed << " " << scale;
    }
  }
}

TEST(Mix, HandsOutWhatFitsAtItsCost) {
  int met = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Problem problem = random_problem({8, 4, 0.6, 0.05, 5000, 0.5}, seed);
    const auto truth = try_all(problem);
    const auto field = field_of(problem);
    if (!truth.objective || !field || field->mrf.size() == 0) continue;
    std::mt19937_64 random(seed);
    const PricedExact exact(field->mrf, field->rows, *problem.usage_limit, kBudget, 1);
    std::vector<std::vector<int32_t>> labellings;
    for (int k = 0; k < 3; ++k) labellings.push_back(exact.at(random_prices(field->rows, random))->labels);
    labellings.push_back(exact.at(std::vector<double>(size_t(field->rows.size()), 1000))->labels);
    const Mix mix(problem, field->graph, field->mrf, labellings, *problem.usage_limit);
    Mix::Search search;
    search.price.assign(size_t(mix.rows().size()), 1000);
    search.stop = [] { return false; };
    mix.search(search, kBudget, [&](const std::vector<int32_t>& choice, Cost cost) {
      const Evaluation evaluation = evaluate(problem, choice);
      EXPECT_TRUE(evaluation.feasible()) << seed;
      EXPECT_TRUE(evaluation.objective == cost) << seed;
      EXPECT_TRUE(cost >= *truth.objective) << seed;
      ++met;
    });
  }
  EXPECT_GT(met, 100);
}

TEST(Mix, EqualLayersUnderALimitAreNearlySolved) {
  Problem problem = testing::transformer_problem(12, 6, 1);
  const Solution free = solve(problem);
  Options options;
  options.relative_gap = 0.002;
  for (const int percent : {95, 85, 75}) {
    problem.usage_limit = free.peak_usage * percent / 100;
    const Solution capped = solve(problem, options);
    if (!capped.feasible) continue;
    EXPECT_LE(capped.peak_usage, *problem.usage_limit);
    EXPECT_LE(capped.gap, 0.005) << percent;
    options.threads = 1;
    EXPECT_EQ(solve(problem, options).choice, capped.choice);
    options.threads = 0;
  }
}

}  // namespace
}  // namespace alpa::solver
