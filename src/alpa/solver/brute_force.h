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
};

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
    for (int64_t k = 1 + below(shape.strategies); k > 0; --k) {
      node.costs.push_back(below(shape.most_cost));
      node.usages.push_back(below(20));
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
      const bool follow = table.rows == table.cols && chance(0.3);
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
