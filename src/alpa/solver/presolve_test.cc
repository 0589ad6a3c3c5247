#include "alpa/solver/presolve.h"

#include <gtest/gtest.h>

#include "alpa/solver/brute_force.h"
#include "alpa/solver/memory_rows.h"
#include "alpa/solver/mrf.h"

namespace alpa::solver {
namespace {

CostTable identity(int32_t size) {
  CostTable table{size, size, std::vector<int64_t>(size_t(size) * size, kForbidden)};
  for (int32_t s = 0; s < size; ++s) table.costs[size_t(s) * size + s] = s;
  return table;
}

/// A chain in which each node must take its neighbour's strategy.
Problem chain(int32_t nodes, int32_t strategies) {
  Problem problem;
  problem.tables.push_back(identity(strategies));
  for (int32_t i = 0; i < nodes; ++i) {
    Node node{i, i + 2, {}, {}};
    for (int32_t s = 0; s < strategies; ++s) {
      node.costs.push_back((s + i) % strategies);
      node.usages.push_back(10 * s + 1);
    }
    problem.nodes.push_back(std::move(node));
    if (i > 0) problem.edges.push_back({i - 1, i, 0});
  }
  return problem;
}

TEST(Presolve, FoldsAChainOfFollowersIntoOneNode) {
  Graph graph(chain(1000, 7), true);
  propagate(graph);
  const Mrf mrf = snapshot(graph);
  EXPECT_EQ(mrf.size(), 1);
  EXPECT_EQ(mrf.domain(0), 7);
  EXPECT_EQ(graph.records().size(), 999u);
}

TEST(Presolve, KeepsTheUsageOfFoldedNodes) {
  const Problem problem = chain(5, 3);
  Graph graph(problem, true);
  propagate(graph);
  const Mrf mrf = snapshot(graph);
  ASSERT_EQ(mrf.size(), 1);
  const MemoryRows rows = memory_rows(problem, graph, mrf, 0);
  for (int32_t s = 0; s < 3; ++s) {
    // Two neighbours of the chain live at a time: 2 (10 s + 1).
    EXPECT_EQ(peak_of(rows, usage_of(rows, {s})), 2 * (10 * s + 1));
    const auto choice = expand(graph, mrf, {s});
    EXPECT_EQ(choice, std::vector<int32_t>(5, s));
    EXPECT_TRUE(evaluate(problem, choice).peak_usage == 2 * (10 * s + 1));
  }
}

TEST(Presolve, FoldsAHubOfFollowersQuickly) {
  Problem problem;
  problem.tables.push_back(identity(5));
  problem.nodes.assign(20'001, {0, 1, {5, 4, 3, 2, 1}, {0, 0, 0, 0, 0}});
  for (int32_t i = 1; i <= 20'000; ++i) problem.edges.push_back({0, i, 0});
  Graph graph(problem, true);
  propagate(graph);
  EXPECT_EQ(snapshot(graph).size(), 1);
}

TEST(Presolve, SeesThatNoChoiceIsAllowed) {
  Problem problem;
  problem.nodes.assign(2, {0, 1, {1, 1}, {0, 0}});
  problem.tables.push_back({2, 2, std::vector<int64_t>(4, kForbidden)});
  problem.edges.push_back({0, 1, 0});
  Graph graph(problem, false);
  presolve(graph);
  EXPECT_TRUE(graph.infeasible());
}

TEST(Presolve, DropsStrategiesWithoutAPartner) {
  Problem problem;
  problem.nodes.assign(2, {0, 1, {1, 1, 1}, {0, 1, 2}});
  problem.tables.push_back({3, 3, {1, 5, kForbidden, 2, 7, kForbidden, kForbidden, kForbidden, kForbidden}});
  problem.edges.push_back({0, 1, 0});
  Graph graph(problem, true);
  propagate(graph);
  EXPECT_EQ(graph.vertex(0).label, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(graph.vertex(1).label, (std::vector<int32_t>{0, 1}));
}

/// The least cost over labellings of the field must be that over choices of the problem.
TEST(Presolve, KeepsTheOptimum) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Problem problem = testing::random_problem({7, 3, 0.7, 0.25, 30, std::nullopt}, seed);
    const auto truth = testing::try_all(problem);
    Graph graph(problem, false);
    presolve(graph);
    if (!truth.objective) continue;
    ASSERT_FALSE(graph.infeasible());
    const Mrf mrf = snapshot(graph);
    Cost least = -1;
    std::vector<int32_t> labels(mrf.size(), 0);
    for (bool more = true; more;) {
      const MrfCost cost = cost_of(mrf, labels);
      if (cost.forbidden == 0 && (least < 0 || cost.cost < least)) {
        least = cost.cost;
        EXPECT_TRUE(evaluate(problem, expand(graph, mrf, labels)).objective <= cost.cost);
      }
      size_t i = 0;
      while (i < labels.size() && ++labels[i] == mrf.domain(static_cast<int32_t>(i))) labels[i++] = 0;
      more = i < labels.size();
    }
    EXPECT_EQ(to_string(least), to_string(*truth.objective)) << seed;
  }
}

}  // namespace
}  // namespace alpa::solver
