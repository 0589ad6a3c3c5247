#include "alpa/solver/hub_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "alpa/solver/brute_force.h"
#include "alpa/solver/component_solver.h"
#include "alpa/solver/elimination.h"
#include "alpa/solver/min_plus.h"
#include "alpa/solver/parallel.h"

namespace alpa::solver {
namespace {

using testing::random_problem;
using testing::try_all;

/// A random field in which nothing is forbidden, and its minimum.
struct Instance {
  explicit Instance(uint64_t seed) {
    Problem problem = random_problem({7, 4, 0.9, 0.0, 40, std::nullopt}, seed);
    for (CostTable& table : problem.tables) {
      for (int64_t& cost : table.costs) cost = std::min<int64_t>(cost, 60);
    }
    minimum = *try_all(problem).objective;
    Graph graph(problem, false);
    mrf = std::make_shared<const Mrf>(snapshot(graph));
  }

  Cost scaled(Cost cost, const DualBound& dual) const { return (cost - mrf->constant) << dual.scale_bits(); }

  /// The minimum where a node takes a strategy, unscaled.
  Cost minimum_with(int32_t node, int32_t strategy) const {
    PairwiseProblem problem = pairwise_problem(*mrf);
    for (int32_t s = 0; s < mrf->domain(node); ++s) {
      if (s != strategy) problem.unary[node][s] = kInfinite;
    }
    return mrf->constant + run_elimination(problem, *plan_elimination(problem, {1'000'000, 100'000'000}, false)).cost;
  }

  std::shared_ptr<const Mrf> mrf;
  Cost minimum = 0;
};

TEST(Branch, BoundsOfPartsStayBelowTheirMinima) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Instance instance(seed);
    DualBound dual(*instance.mrf);
    const Branch whole(instance.mrf, dual);
    for (int32_t node = 0; node < instance.mrf->size(); ++node) {
      for (int32_t s = 0; s < instance.mrf->domain(node); ++s) {
        const Cost exact = instance.scaled(instance.minimum_with(node, s), dual);
        Branch part = whole.choose(node, s);
        part.sweep_among(part.around(node, 4), 3, exact + 1);
        EXPECT_TRUE(part.bound() <= exact) << seed;
        part.sweep(6, exact + 1);
        EXPECT_TRUE(part.bound() <= exact) << seed;
        EXPECT_EQ(part.decoded()[node], s) << seed;
        ASSERT_TRUE(part.narrow(exact + 1)) << seed;
        part.sweep(6, exact + 1);
        EXPECT_TRUE(part.bound() <= exact) << seed;
        EXPECT_EQ(part.decoded()[node], s) << seed;
      }
    }
  }
}

TEST(HubSearch, RaisesTheBoundToTheLimitOrTheMinimum) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Instance instance(seed);
    DualBound dual(*instance.mrf);
    for (const int64_t beyond : {-5, 0, 1, 20}) {
      const Cost exact = instance.scaled(instance.minimum, dual);
      const Cost limit = instance.scaled(instance.minimum + beyond, dual);
      HubSearch search(Branch(instance.mrf, dual));
      const Cost early = search.raise_bound(limit, 100);
      EXPECT_TRUE(early <= std::min(limit, exact)) << seed;
      EXPECT_TRUE(search.raise_bound(limit, int64_t(1) << 40) == std::min(limit, exact)) << seed;
    }
  }
}

TEST(HubSearch, KeepsToWhatItClosedWhenItIsAskedAgain) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Instance instance(seed);
    DualBound dual(*instance.mrf);
    const Cost exact = instance.scaled(instance.minimum, dual);
    HubSearch search(Branch(instance.mrf, dual));
    EXPECT_TRUE(search.raise_bound(instance.scaled(instance.minimum + 40, dual), int64_t(1) << 40) == exact) << seed;
    EXPECT_TRUE(cost_of(*instance.mrf, search.decided()).cost == instance.minimum) << seed;
    for (const int64_t beyond : {20, 60}) {
      const Cost limit = instance.scaled(instance.minimum + beyond, dual);
      EXPECT_TRUE(search.raise_bound(limit, int64_t(1) << 40) == exact) << seed;
    }
    const Cost below = instance.scaled(instance.minimum - 3, dual);
    EXPECT_TRUE(search.raise_bound(below, int64_t(1) << 40) == below) << seed;
  }
}

TEST(HubSearch, DivesToLabellingsOfTheWholeField) {
  int64_t found = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Instance instance(seed);
    DualBound dual(*instance.mrf);
    Cost best = instance.scaled(instance.minimum + 1000, dual);
    HubSearch(Branch(instance.mrf, dual)).dive(best, [&](const std::vector<int32_t>& labels) {
      EXPECT_EQ(labels.size(), size_t(instance.mrf->size()));
      const Cost cost = cost_of(*instance.mrf, labels).cost;
      EXPECT_TRUE(cost >= instance.minimum) << seed;
      best = std::min(best, instance.scaled(cost, dual));
      return best;
    });
    found += best == instance.scaled(instance.minimum, dual);
  }
  EXPECT_GE(found, 90);  // A heuristic: nearly always on problems as small as these.
}

TEST(HubSearch, SuitsFieldsWithoutForbiddenPairs) {
  EXPECT_TRUE(HubSearch::suits(*Instance(1).mrf));
  const Problem problem = random_problem({7, 4, 0.9, 0.5, 40, std::nullopt}, 1);
  Graph graph(problem, false);
  EXPECT_FALSE(HubSearch::suits(snapshot(graph)));
}

TEST(Parallel, CallsEachOnceAndThrowsTheFirstError) {
  std::vector<int> calls(1000, 0);
  for_each_in_parallel(calls.size(), [&](size_t k) { ++calls[k]; });
  EXPECT_EQ(calls, std::vector<int>(1000, 1));
  const auto fail = [](size_t k) {
    if (k % 10 == 3) throw std::runtime_error(std::to_string(k));
  };
  try {
    for_each_in_parallel(100, fail);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "3");
  }
}

TEST(MinPlus, IsTheMinimumForEveryWidth) {
  std::mt19937_64 random(1);
  for (int32_t cols = 1; cols < 80; ++cols) {
    for (const int32_t rows : {1, 2, 27}) {
      std::vector<int64_t> table(size_t(rows) * size_t(cols));
      std::vector<int64_t> own(size_t(rows), 0);
      for (int64_t& cost : table) cost = int64_t(random() % 1000) - 500;
      for (int64_t& cost : own) cost = int64_t(random() % 1000) - 500;
      std::vector<int64_t> out(size_t(cols), 0);
      min_plus(table.data(), own.data(), rows, cols, out.data());
      for (int32_t c = 0; c < cols; ++c) {
        int64_t least = std::numeric_limits<int64_t>::max();
        for (int32_t r = 0; r < rows; ++r)
          least = std::min(least, table[size_t(r) * size_t(cols) + size_t(c)] - own[r]);
        EXPECT_EQ(out[c], least) << cols;
      }
    }
  }
}

}  // namespace
}  // namespace alpa::solver
