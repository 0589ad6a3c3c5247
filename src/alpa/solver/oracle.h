#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "alpa/solver/cost.h"
#include "alpa/solver/problem.h"

// For tests: the exact answers of problems that are too large to try every choice. It shares no code with the solver.

namespace alpa::solver::testing {

/// Depth first over the nodes, those with most neighbours first. A part of the choices is left out where
/// cost so far + sum over the open nodes of the least cost, given their decided neighbours, + least entries of the
/// edges between open nodes is no better than the best; so for the usage, with each open node at its least.
class Oracle {
 public:
  explicit Oracle(const Problem& problem)
      : problem_(problem), size_(static_cast<int>(problem.nodes.size())), given_(problem.nodes.size()) {
    find_times();
    std::vector<int> degree(problem.nodes.size(), 0);
    for (const Edge& edge : problem.edges) ++degree[edge.first], ++degree[edge.second];
    for (int i = 0; i < size_; ++i) order_.push_back(i);
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return degree[a] > degree[b]; });
    rank_.resize(problem.nodes.size());
    for (int k = 0; k < size_; ++k) rank_[order_[k]] = k;
    open_edges_.assign(size_ + 1, 0);
    later_.resize(problem.nodes.size());
    for (const Edge& edge : problem.edges) {
      const bool first_decided_first = rank_[edge.first] < rank_[edge.second];
      later_[first_decided_first ? edge.first : edge.second].push_back(&edge);
      const std::vector<int64_t>& costs = problem.tables[edge.table].costs;
      const Cost least = *std::min_element(costs.begin(), costs.end());
      // Open until its first end is decided.
      const int decided = std::min(rank_[edge.first], rank_[edge.second]);
      for (int k = 0; k <= decided; ++k) open_edges_[k] += least;
    }
  }

  /// The least cost of the allowed choices that fit; empty: there are none.
  std::optional<Cost> objective() {
    best_.reset();
    by_peak_ = false;
    start();
    visit(0, 0);
    return best_;
  }

  /// The least peak usage of the allowed choices, whatever the limit; empty: there are none.
  std::optional<Cost> least_peak() {
    best_.reset();
    by_peak_ = true;
    start();
    visit(0, 0);
    return best_;
  }

 private:
  void find_times() {
    std::map<int64_t, int> index;
    for (const Node& node : problem_.nodes) {
      if (node.begin < node.end) index[node.begin] = 0;  // The peak is where some node begins.
    }
    int count = 0;
    for (auto& [time, k] : index) k = count++;
    times_.resize(problem_.nodes.size());
    for (size_t i = 0; i < problem_.nodes.size(); ++i) {
      for (const auto& [time, k] : index) {
        if (problem_.nodes[i].begin <= time && time < problem_.nodes[i].end) times_[i].push_back(k);
      }
    }
    usage_.resize(size_t(count));
  }

  void start() {
    std::fill(usage_.begin(), usage_.end(), 0);
    for (int i = 0; i < size_; ++i) {
      const Node& node = problem_.nodes[i];
      given_[i].assign(node.costs.begin(), node.costs.end());
      const int64_t least = *std::min_element(node.usages.begin(), node.usages.end());
      for (int k : times_[i]) usage_[k] += least;
    }
  }

  Cost peak() const { return usage_.empty() ? 0 : *std::max_element(usage_.begin(), usage_.end()); }

  bool too_much() const {
    if (by_peak_) return best_ && peak() >= *best_;
    return problem_.usage_limit && peak() > *problem_.usage_limit;
  }

  /// Whether no better choice is left, the first `decided` nodes being so at `cost`.
  bool hopeless(int decided, Cost cost) const {
    for (int k = decided; k < size_; ++k) {
      const Cost least = *std::min_element(given_[order_[k]].begin(), given_[order_[k]].end());
      if (least >= kForbidden) return true;
      cost += least;
    }
    return !by_peak_ && best_ && cost + open_edges_[decided] >= *best_;
  }

  void visit(int decided, Cost cost) {
    if (too_much() || hopeless(decided, cost)) return;
    if (decided == size_) {
      best_ = by_peak_ ? peak() : cost;
      return;
    }
    const int node = order_[decided];
    std::vector<int> strategies;
    for (int s = 0; s < static_cast<int>(given_[node].size()); ++s) {
      if (given_[node][s] < kForbidden) strategies.push_back(s);
    }
    const std::vector<int64_t>& usages = problem_.nodes[node].usages;
    std::stable_sort(strategies.begin(), strategies.end(), [&](int s, int t) {
      return by_peak_ ? usages[s] < usages[t] : given_[node][s] < given_[node][t];
    });
    const int64_t least = *std::min_element(usages.begin(), usages.end());
    for (int s : strategies) {
      const Cost own = given_[node][s];
      tell_neighbours(node, s, 1);
      for (int k : times_[node]) usage_[k] += usages[s] - least;
      visit(decided + 1, cost + own);
      for (int k : times_[node]) usage_[k] -= usages[s] - least;
      tell_neighbours(node, s, -1);
    }
  }

  /// Adds what a strategy costs to the open neighbours, or takes it off. Sums of forbidden entries stay forbidden.
  void tell_neighbours(int node, int s, int sign) {
    for (const Edge* edge : later_[node]) {
      const CostTable& table = problem_.tables[edge->table];
      std::vector<Cost>& given = given_[edge->first == node ? edge->second : edge->first];
      for (size_t t = 0; t < given.size(); ++t) {
        const size_t entry = edge->first == node ? size_t(s) * size_t(table.cols) + t : t * size_t(table.cols) + s;
        given[t] += sign * Cost(table.costs[entry]);
      }
    }
  }

  const Problem& problem_;
  int size_;
  std::vector<int> order_;
  std::vector<int> rank_;
  std::vector<std::vector<const Edge*>> later_;  ///< Edges of a node to those that are decided after it.
  std::vector<Cost> open_edges_;                 ///< Least cost of the edges that are open when so many are decided.
  std::vector<std::vector<int>> times_;          ///< Of each node: where it lives among the times at which one begins.
  std::vector<std::vector<Cost>> given_;         ///< A strategy's cost, with the edges to decided nodes.
  std::vector<int64_t> usage_;                   ///< At each time, open nodes at their least.
  std::optional<Cost> best_;
  bool by_peak_ = false;
};

}  // namespace alpa::solver::testing
