#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "alpa/solver/evaluate.h"
#include "alpa/solver/problem.h"

// For tests: small random problems, and their answers by trying every choice.

namespace alpa::solver::testing {

struct Truth {
  std::optional<Cost> objective;   ///< Of the best feasible choice.
  std::optional<Cost> least_peak;  ///< Over all allowed choices.
};

inline Truth try_all(const Problem& problem) {
  Truth truth;
  std::vector<int32_t> choice(problem.nodes.size(), 0);
  for (;;) {
    const Evaluation evaluation = evaluate(problem, choice);
    if (!evaluation.forbidden) {
      if (!truth.least_peak || evaluation.peak_usage < *truth.least_peak) truth.least_peak = evaluation.peak_usage;
      if (evaluation.fits && (!truth.objective || evaluation.objective < *truth.objective)) {
        truth.objective = evaluation.objective;
      }
    }
    size_t i = 0;
    while (i < choice.size() && ++choice[i] == static_cast<int32_t>(problem.nodes[i].costs.size())) choice[i++] = 0;
    if (i == choice.size()) return truth;
  }
}

struct Shape {
  int nodes = 6;
  int strategies = 3;      ///< At most.
  double density = 0.4;    ///< Of edges; doubled draws make parallel ones.
  double forbidden = 0.2;  ///< Share of table entries.
  int64_t most_cost = 50;
  std::optional<double> tightness;  ///< Limit as a share of the way from 0 to the largest peak.
  int64_t most_usage = 20;
  int fewest_strategies = 1;
  double follows = 0.3;  ///< Share of the square tables that allow only the same strategy.
};

/// A shape of up to 12 nodes and 6 strategies, drawn by a seed: sparse and dense, with and without a limit that binds,
/// forbidden entries, many ties, and costs as large as a planner's. One in three is large and dense: those outlast
/// the reductions.
inline Shape random_shape(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](const auto&... values) {
    const std::common_type_t<decltype(values)...> list[] = {values...};
    return list[random() % sizeof...(values)];
  };
  const bool hard = random() % 3 == 0;
  Shape shape;
  shape.nodes = static_cast<int>(hard ? 8 + random() % 5 : 2 + random() % 11);
  shape.strategies = hard ? pick(3, 4, 6) : pick(2, 3, 4, 6);
  shape.fewest_strategies = hard ? shape.strategies - 1 : 1;
  shape.density = hard ? pick(0.4, 0.6, 0.9) : pick(0.1, 0.25, 0.5, 0.9);
  shape.forbidden = hard ? pick(0.0, 0.0, 0.05, 0.15, 0.3) : pick(0.0, 0.1, 0.25, 0.5);
  shape.follows = hard ? pick(0.0, 0.0, 0.1) : 0.3;
  shape.most_cost = pick(int64_t{2}, int64_t{50}, int64_t{1'000'000}, int64_t{10'000'000'000'000});
  if (random() % 2 > 0) shape.tightness = pick(0.3, 0.4, 0.5, 0.6, 0.7);
  shape.most_usage = pick(int64_t{3}, int64_t{20}, int64_t{1} << 36);
  return shape;
}

inline Problem random_problem(const Shape& shape, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t bound) { return static_cast<int64_t>(random() % static_cast<uint64_t>(bound)); };
  const auto chance = [&](double p) { return double(random() % 1'000'000) < p * 1e6; };
  Problem problem;
  problem.name = "random";
  std::vector<int32_t> heaviest;
  for (int i = 0; i < shape.nodes; ++i) {
    Node node;
    node.begin = below(6);
    node.end = node.begin + below(5);
    const int fewest = std::min(shape.fewest_strategies, shape.strategies);
    for (int64_t k = fewest + below(shape.strategies - fewest + 1); k > 0; --k) {
      node.costs.push_back(below(shape.most_cost));
      node.usages.push_back(below(shape.most_usage));
    }
    heaviest.push_back(
        static_cast<int32_t>(std::max_element(node.usages.begin(), node.usages.end()) - node.usages.begin()));
    problem.nodes.push_back(std::move(node));
  }
  for (int a = 0; a < shape.nodes; ++a) {
    for (int b = 0; b < shape.nodes; ++b) {
      if (a == b || !chance(shape.density / 2)) continue;
      CostTable table;
      table.rows = static_cast<int32_t>(problem.nodes[a].costs.size());
      table.cols = static_cast<int32_t>(problem.nodes[b].costs.size());
      const bool follow = table.rows == table.cols && chance(shape.follows);
      for (int r = 0; r < table.rows; ++r) {
        for (int c = 0; c < table.cols; ++c) {
          const bool banned = follow ? r != c : chance(shape.forbidden);
          table.costs.push_back(banned ? kForbidden : below(shape.most_cost));
        }
      }
      problem.edges.push_back({a, b, static_cast<int32_t>(problem.tables.size())});
      problem.tables.push_back(std::move(table));
    }
  }
  if (shape.tightness) {
    const double peak = double(evaluate(problem, heaviest).peak_usage);
    problem.usage_limit = static_cast<int64_t>(*shape.tightness * peak);
  }
  return problem;
}

}  // namespace alpa::solver::testing
