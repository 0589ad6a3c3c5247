#include <gtest/gtest.h>

#include "alpa/solver/brute_force.h"
#include "alpa/solver/capped_dual.h"
#include "alpa/solver/component_solver.h"
#include "alpa/solver/dual_bound.h"
#include "alpa/solver/elimination.h"
#include "alpa/solver/highs/mip.h"
#include "alpa/solver/memory_rows.h"
#include "alpa/solver/mini_bucket.h"
#include "alpa/solver/presolve.h"

namespace alpa::solver {
namespace {

using testing::random_problem;
using testing::try_all;

TEST(Elimination, FindsTheMinimum) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Problem problem = random_problem({7, 4, 0.8, 0.3, 40, std::nullopt}, seed);
    const auto truth = try_all(problem);
    Graph graph(problem, false);
    if (graph.infeasible()) continue;
    const Mrf mrf = snapshot(graph);
    const PairwiseProblem small = pairwise_problem(mrf);
    const auto plan = plan_elimination(small, {1'000'000, 100'000'000}, false);
    ASSERT_TRUE(plan.has_value());
    const EliminationResult result = run_elimination(small, *plan);
    EXPECT_EQ(result.cost >= kInfinite / 2, !truth.objective.has_value()) << seed;
    if (!truth.objective) continue;
    EXPECT_EQ(to_string(result.cost), to_string(*truth.objective)) << seed;
    EXPECT_EQ(to_string(cost_of(mrf, result.labels).cost), to_string(*truth.objective)) << seed;
  }
}

TEST(Elimination, SaysWhenTablesGrowTooLarge) {
  PairwiseProblem problem;
  problem.unary.assign(8, std::vector<int64_t>(10, 0));
  for (int32_t a = 0; a < 8; ++a) {
    for (int32_t b = a + 1; b < 8; ++b) problem.pairs.push_back({a, b, std::vector<int64_t>(100, 1)});
  }
  EXPECT_FALSE(plan_elimination(problem, {1000, 1'000'000'000}, false).has_value());
  const auto plan = plan_elimination(problem, {1000, 1'000'000'000}, true);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->frozen.size(), 4u);
  EXPECT_EQ(plan->order.size(), 4u);
}

TEST(DualBound, StaysBelowTheMinimumAndForcedBoundsToo) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Problem problem = random_problem({7, 3, 0.8, 0.15, 40, std::nullopt}, seed);
    const auto truth = try_all(problem);
    Graph graph(problem, false);
    propagate(graph);
    if (!truth.objective || graph.infeasible()) continue;
    const Mrf mrf = snapshot(graph);
    DualBound dual(mrf);
    for (int k = 0; k < 20; ++k) {
      const Cost bound = dual.sweep();
      const Cost limit = (*truth.objective - mrf.constant) * (Cost(1) << dual.scale_bits());
      EXPECT_TRUE(bound <= limit) << seed;
      // Some best labelling takes a strategy of each node: none of its forced bounds may pass the optimum.
      for (int32_t i = 0; i < mrf.size(); ++i) {
        EXPECT_TRUE(*std::min_element(dual.forced()[i].begin(), dual.forced()[i].end()) <= limit) << seed;
      }
    }
  }
}

TEST(MiniBuckets, StayBelowTheMinimumAndReachItWithRoom) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    const Problem problem = random_problem({8, 4, 0.8, 0.2, 40, std::nullopt}, seed);
    const auto truth = try_all(problem);
    Graph graph(problem, false);
    propagate(graph);  // Message passing wants every strategy to have partners.
    if (graph.infeasible()) continue;
    const Mrf mrf = snapshot(graph);
    DualBound dual(mrf);
    for (int sweeps : {0, 3}) {
      for (int k = 0; k < sweeps; ++k) dual.sweep();
      for (int64_t entries : {1, 4, 16, 64, 1 << 20}) {
        const Cost bound = mini_bucket_bound(mrf, dual, entries);
        if (!truth.objective) {
          EXPECT_TRUE(entries < 1 << 20 || bound == kNoLabelling) << seed;
          continue;
        }
        const Cost exact = (*truth.objective - mrf.constant) * (Cost(1) << dual.scale_bits());
        EXPECT_TRUE(bound <= exact) << seed << " with " << entries;
        EXPECT_TRUE(entries < 1 << 20 || bound == exact) << seed;
      }
    }
  }
}

TEST(DualBound, IsExactOnTrees) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Problem problem = random_problem({8, 3, 0.0, 0.0, 40, std::nullopt}, seed);
    std::mt19937_64 random(seed);
    for (int32_t i = 1; i < 8; ++i) {
      const auto parent = static_cast<int32_t>(random() % uint64_t(i));
      CostTable table{static_cast<int32_t>(problem.nodes[parent].costs.size()),
                      static_cast<int32_t>(problem.nodes[i].costs.size()),
                      {}};
      for (int k = 0; k < table.rows * table.cols; ++k) table.costs.push_back(int64_t(random() % 40));
      problem.edges.push_back({parent, i, static_cast<int32_t>(problem.tables.size())});
      problem.tables.push_back(std::move(table));
    }
    Graph graph(problem, false);
    const Mrf mrf = snapshot(graph);
    DualBound dual(mrf);
    Cost bound = 0;
    for (int k = 0; k < 50; ++k) bound = dual.sweep();
    const Cost rounded = -((-bound) >> dual.scale_bits());
    EXPECT_EQ(to_string(rounded), to_string(*try_all(problem).objective)) << seed;
  }
}

TEST(Mip, BoundsNothingAboveTheCutoff) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Problem problem = random_problem({7, 4, 0.8, 0.1, 40, std::nullopt}, seed);
    const auto truth = try_all(problem);
    Graph graph(problem, false);
    propagate(graph);
    if (!truth.objective || graph.infeasible()) continue;
    const Mrf mrf = snapshot(graph);
    if (mrf.size() < 2) continue;
    for (const int64_t beyond : {-9, -1, 0, 1, 30}) {
      MipRequest request;
      request.mrf = &mrf;
      const double optimum = double(*truth.objective - mrf.constant);
      request.cutoff = optimum + double(beyond);
      const MipResult mip = solve_mip(request);
      ASSERT_TRUE(mip.finished) << seed;
      EXPECT_LE(mip.bound, std::min(optimum, *request.cutoff) + 1e-6) << seed;
      if (beyond <= 0) continue;
      ASSERT_FALSE(mip.labels.empty()) << seed;
      EXPECT_TRUE(cost_of(mrf, mip.labels).cost == *truth.objective) << seed;
    }
  }
}

TEST(CappedDual, StaysBelowTheBestChoiceThatFits) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Problem problem = random_problem({7, 3, 0.5, 0.1, 40, 0.5}, seed);
    const auto truth = try_all(problem);
    Graph graph(problem, true);
    propagate(graph);
    if (!truth.objective || graph.infeasible()) continue;
    const Mrf mrf = snapshot(graph);
    const MemoryRows rows = memory_rows(problem, graph, mrf, *problem.usage_limit);
    CappedDual dual(mrf, rows, *problem.usage_limit);
    dual.climb(60, 40, [&](const std::vector<int32_t>& labels, const std::vector<int64_t>& usage) {
      EXPECT_TRUE(dual.bound() <= *truth.objective) << seed;
      const Evaluation evaluation = evaluate(problem, expand(graph, mrf, labels));
      EXPECT_EQ(peak_of(rows, usage) <= *problem.usage_limit, evaluation.fits) << seed;
      return true;
    });
  }
}

}  // namespace
}  // namespace alpa::solver
