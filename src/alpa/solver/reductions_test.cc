// Each reduction alone against brute force: what is left of the problem has the same optimum, and every labelling of it
// extends to a choice of just its cost.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "alpa/solver/brute_force.h"
#include "alpa/solver/component_solver.h"
#include "alpa/solver/contraction.h"
#include "alpa/solver/dominance.h"
#include "alpa/solver/dual_bound.h"
#include "alpa/solver/fixing.h"
#include "alpa/solver/least_cap.h"
#include "alpa/solver/low_degree.h"
#include "alpa/solver/memory_reduction.h"
#include "alpa/solver/memory_rows.h"
#include "alpa/solver/oracle.h"
#include "alpa/solver/presolve.h"

namespace alpa::solver {
namespace {

using testing::Oracle;
using testing::random_problem;
using testing::random_shape;
using testing::Shape;

constexpr uint64_t kSeeds = 600;

/// A problem that is small enough to try all that is left of it.
Problem small_problem(uint64_t seed, bool capped) {
  Shape shape = random_shape(seed);
  shape.nodes = std::min(shape.nodes, 6);
  shape.strategies = std::min(shape.strategies, 4);
  if (!capped) shape.tightness.reset();
  if (capped && !shape.tightness) shape.tightness = 0.5;
  return random_problem(shape, seed);
}

void each_labelling(const Mrf& mrf, const std::function<void(const std::vector<int32_t>&)>& hear) {
  std::vector<int32_t> labels(size_t(mrf.size()), 0);
  for (;;) {
    hear(labels);
    size_t i = 0;
    while (i < labels.size() && ++labels[i] == mrf.domain(static_cast<int32_t>(i))) labels[i++] = 0;
    if (i == labels.size()) return;
  }
}

/// The least cost of what is left, of the labellings whose choices fit; empty: none. Checks that each labelling costs
/// what its choice does.
std::optional<Cost> least_left(const Problem& problem, Graph& graph) {
  std::optional<Cost> least;
  if (graph.infeasible()) return least;
  const Mrf mrf = snapshot(graph);
  each_labelling(mrf, [&](const std::vector<int32_t>& labels) {
    const MrfCost cost = cost_of(mrf, labels);
    if (cost.forbidden > 0 || (least && cost.cost >= *least)) return;
    const Evaluation evaluation = evaluate(problem, expand(graph, mrf, labels));
    EXPECT_FALSE(evaluation.forbidden);
    EXPECT_EQ(to_string(evaluation.objective), to_string(cost.cost));
    if (evaluation.fits) least = cost.cost;
  });
  return least;
}

void expect_same(const std::optional<Cost>& left, const std::optional<Cost>& truth) {
  EXPECT_EQ(left ? to_string(*left) : "none", truth ? to_string(*truth) : "none");
}

/// Runs a reduction that says whether it did something on random problems; each time the optimum must stay.
void expect_keeps_optimum(bool capped, const std::function<bool(const Problem&, Graph&)>& reduce) {
  int64_t reduced = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Problem problem = small_problem(seed, capped);
    Graph graph(problem, capped);
    if (graph.infeasible()) continue;
    reduced += reduce(problem, graph);
    expect_same(least_left(problem, graph), Oracle(problem).objective());
  }
  EXPECT_GT(reduced, int64_t(kSeeds / 20));  // Else the test tests nothing.
}

bool supported(const Graph& graph, int32_t l) {
  return graph.link(l).alive && graph.link(l).table->rows_supported && graph.link(l).table->cols_supported;
}

/// Random problems have few functional tables: makes some of the edges so.
Problem with_followers(Problem problem, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (CostTable& table : problem.tables) {
    if (random() % 2 > 0) continue;
    const bool by_rows = table.rows >= table.cols;
    const int32_t many = by_rows ? table.rows : table.cols;
    const int32_t few = by_rows ? table.cols : table.rows;
    const auto turn = static_cast<int32_t>(random() % uint64_t(few));
    for (int32_t r = 0; r < table.rows; ++r) {
      for (int32_t c = 0; c < table.cols; ++c) {
        const bool partners = ((by_rows ? r : c) + turn) % few == (by_rows ? c : r);
        table.costs[size_t(r) * size_t(table.cols) + size_t(c)] = partners ? int64_t(random() % 40) : kForbidden;
      }
    }
    EXPECT_GE(many, few);
  }
  return problem;
}

TEST(Contraction, OfOneLinkKeepsTheOptimum) {
  int64_t contracted = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const bool capped = seed % 2 == 0;
    const Problem problem = with_followers(small_problem(seed, capped), seed);
    const auto truth = Oracle(problem).objective();
    const Graph whole(problem, capped);
    for (int32_t l = 0; l < whole.link_count() && !whole.infeasible(); ++l) {
      Graph graph = whole;
      if (!supported(graph, l) || !contract_if_functional(graph, l)) continue;
      ++contracted;
      expect_same(least_left(problem, graph), truth);
    }
  }
  EXPECT_GT(contracted, 500);
}

TEST(Propagation, KeepsTheOptimumAndLeavesEveryStrategyAPartner) {
  for (const bool capped : {false, true}) {
    expect_keeps_optimum(capped, [&](const Problem& problem, Graph& graph) {
      const int64_t before = snapshot(graph).entries();
      propagate(graph);
      if (graph.infeasible()) return true;
      const Mrf mrf = snapshot(graph);
      for (const Mrf::Edge& edge : mrf.edges) {
        EXPECT_TRUE(edge.table->rows_supported && edge.table->cols_supported);
        EXPECT_FALSE(edge.table->rows_functional || edge.table->cols_functional || edge.table->separable);
      }
      EXPECT_LE(mrf.size(), static_cast<int32_t>(problem.nodes.size()));
      return mrf.entries() < before;
    });
  }
}

TEST(Propagation, KeepsTheOptimumOfFollowers) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Problem problem = with_followers(small_problem(seed, seed % 2 == 0), seed);
    Graph graph(problem, seed % 2 == 0);
    propagate(graph);
    expect_same(least_left(problem, graph), Oracle(problem).objective());
  }
}

TEST(Dominance, KeepsTheOptimum) {
  for (const bool capped : {false, true}) {
    int64_t dropped = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const Problem problem = small_problem(seed, capped);
      Graph graph(problem, capped);
      dropped += !graph.infeasible() && drop_dominated(graph);
      expect_same(least_left(problem, graph), Oracle(problem).objective());
    }
    EXPECT_GT(dropped, capped ? 10 : 150);  // Under a cap only what uses no memory is touched, which is little.
  }
}

TEST(LowDegree, KeepsTheOptimum) {
  for (const bool capped : {false, true}) {
    expect_keeps_optimum(capped, [](const Problem&, Graph& graph) { return eliminate_low_degree(graph); });
  }
}

TEST(Presolve, KeepsTheOptimumUnderACap) {
  expect_keeps_optimum(true, [](const Problem& problem, Graph& graph) {
    presolve(graph);
    return graph.infeasible() || snapshot(graph).size() < static_cast<int32_t>(problem.nodes.size());
  });
}

TEST(MemoryReduction, KeepsTheOptimumUnderTheCap) {
  expect_keeps_optimum(true, [](const Problem& problem, Graph& graph) {
    propagate(graph);
    bool reduced = false;
    for (bool again = true; again && !graph.infeasible();) {
      const Mrf mrf = snapshot(graph);
      const MemoryRows rows = memory_rows(problem, graph, mrf, *problem.usage_limit);
      again = rows.least_peak <= *problem.usage_limit && reduce_by_memory(graph, mrf, rows, *problem.usage_limit);
      reduced = reduced || again;
      if (again && !graph.infeasible()) presolve(graph);
    }
    return reduced;
  });
}

/// After any reductions, rows tell which labellings fit, and moves change usages as they should.
TEST(MemoryRows, TellWhatFits) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Problem problem = small_problem(seed, true);
    const int64_t limit = *problem.usage_limit;
    Graph graph(problem, true);
    if (seed % 3 == 1) propagate(graph);
    if (seed % 3 == 2) presolve(graph);
    if (graph.infeasible()) continue;
    const Mrf mrf = snapshot(graph);
    const MemoryRows rows = memory_rows(problem, graph, mrf, limit);
    std::vector<int32_t> last(size_t(mrf.size()), 0);
    std::vector<int64_t> moved = usage_of(rows, last);
    each_labelling(mrf, [&](const std::vector<int32_t>& labels) {
      const std::vector<int64_t> usage = usage_of(rows, labels);
      for (int32_t i = 0; i < mrf.size(); ++i) move_usage(rows, i, last[size_t(i)], labels[size_t(i)], moved);
      last = labels;
      EXPECT_EQ(moved, usage);
      if (cost_of(mrf, labels).forbidden > 0) return;
      const Evaluation evaluation = evaluate(problem, expand(graph, mrf, labels));
      EXPECT_EQ(peak_of(rows, usage) <= limit, evaluation.fits);
      EXPECT_TRUE(rows.least_peak <= evaluation.peak_usage);
      bool within = rows.least_peak <= limit;
      for (int32_t r = 0; r < rows.size(); ++r) {
        const UsageRow row = usage_row(rows, r, limit);
        int64_t sum = 0;
        for (const UsageRow::Term& term : row.terms) sum += term.usage[size_t(labels[size_t(term.node)])];
        within = within && sum <= row.limit;
      }
      EXPECT_EQ(within, evaluation.fits);
    });
  }
}

/// The labellings below the limit that was fixed to, before and after.
void expect_fixing_keeps(const Problem& problem, int64_t beyond, bool pairs, int64_t& fixed) {
  Graph graph(problem, false);
  propagate(graph);
  const auto truth = Oracle(problem).objective();
  if (!truth || graph.infeasible()) return;
  const Mrf mrf = snapshot(graph);
  const Graph before = graph;
  if (mrf.size() == 0) return;
  DualBound dual(mrf);
  for (int k = 0; k < 15; ++k) dual.sweep();
  const Cost limit = *truth + beyond;
  const Cost scaled = (limit - mrf.constant) * (Cost(1) << dual.scale_bits());
  fixed += pairs ? fix_pairs(graph, mrf, dual, 0, scaled) : fix_by_bound(graph, mrf, dual.forced(), scaled);
  each_labelling(mrf, [&](const std::vector<int32_t>& labels) {
    const MrfCost cost = cost_of(mrf, labels);
    if (cost.forbidden > 0 || cost.cost >= limit) return;
    ASSERT_FALSE(graph.infeasible());
    const Mrf left = snapshot(graph);
    const std::vector<int32_t> found = labels_of(graph, left, expand(before, mrf, labels));
    for (const int32_t s : found) ASSERT_GE(s, 0);
    EXPECT_TRUE(cost_of(left, found).cost == cost.cost && cost_of(left, found).forbidden == 0);
  });
}

TEST(Fixing, KeepsEveryLabellingBelowTheLimit) {
  for (const bool pairs : {false, true}) {
    int64_t fixed = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const Problem problem = small_problem(seed, false);
      for (const int64_t beyond : {0, 1, 7}) expect_fixing_keeps(problem, beyond, pairs, fixed);
    }
    EXPECT_GT(fixed, 1000);
  }
}

TEST(ComponentSolver, KeepsTheOptimum) {
  for (const bool capped : {false, true}) {
    int64_t solved = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Problem problem = small_problem(seed, capped);
      if (capped) {  // Some nodes use no memory.
        for (size_t i = 0; i < problem.nodes.size(); i += 2) problem.nodes[i].end = problem.nodes[i].begin;
      }
      Graph graph(problem, capped);
      if (graph.infeasible()) continue;
      solved += solve_components(graph, snapshot(graph), {1'000'000, 100'000'000}, 1);
      expect_same(least_left(problem, graph), Oracle(problem).objective());
    }
    EXPECT_GT(solved, int64_t(kSeeds / 2));
  }
}

TEST(LeastCap, IsTheLeastPeakOfAllowedChoices) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = random_problem(random_shape(seed), seed);
    problem.usage_limit = 0;
    const auto truth = Oracle(problem).least_peak();
    const Options options;
    solver::Run run(problem, options);
    const LeastCap least = search_least_cap(run, {});
    ASSERT_EQ(least.known, truth.has_value());
    if (!truth) continue;
    EXPECT_EQ(std::to_string(least.peak), to_string(*truth));
    EXPECT_TRUE(least.bound <= *truth);
    EXPECT_GE(double(least.bound), double(*truth) * (1 - 2e-6));  // A MIP proves no more of large numbers.
    EXPECT_TRUE(evaluate(problem, least.choice).peak_usage == *truth);
    EXPECT_FALSE(evaluate(problem, least.choice).forbidden);
  }
}

}  // namespace
}  // namespace alpa::solver
