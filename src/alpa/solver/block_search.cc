#include "alpa/solver/block_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace alpa::solver {
namespace {

constexpr int64_t kPenalty = int64_t(1) << 54;
constexpr size_t kHubSample = 12;

}  // namespace

BlockSearch::BlockSearch(const Mrf& mrf, uint64_t seed) : mrf_(mrf), random_(seed), index_in_block_(mrf.size(), -1) {}

std::vector<int32_t> BlockSearch::random_region(int32_t most) {
  return region_around(static_cast<int32_t>(draw(mrf_.size())), most);
}

std::vector<int32_t> BlockSearch::region_around(int32_t root, int32_t most) {
  std::vector<int32_t> region = {root};
  index_in_block_[root] = 0;
  const uint64_t breadth = draw(3);  // 0: breadth first; else now and then a random member grows.
  for (size_t next = 0; next < region.size() && region.size() < size_t(most); ++next) {
    if (breadth != 0 && next + 1 < region.size()) {
      std::swap(region[next], region[next + draw(region.size() - next)]);
    }
    const int32_t node = region[next];
    const auto& incident = mrf_.incident[node];
    const size_t count = std::min(incident.size(), kHubSample);
    const size_t start = incident.size() > count ? draw(incident.size()) : 0;
    for (size_t k = 0; k < count && region.size() < size_t(most); ++k) {
      const int32_t neighbour = mrf_.other(incident[(start + k) % incident.size()], node);
      if (index_in_block_[neighbour] >= 0) continue;
      index_in_block_[neighbour] = 0;
      region.push_back(neighbour);
    }
  }
  for (int32_t node : region) index_in_block_[node] = -1;
  return region;
}

std::vector<int32_t> BlockSearch::allowed_strategies(int32_t node, int32_t label, int32_t most) {
  const int32_t domain = mrf_.domain(node);
  std::vector<int32_t> all(domain);
  std::iota(all.begin(), all.end(), 0);
  if (most == 0 || domain <= most || reduced_ == nullptr) return all;
  std::vector<std::pair<double, int32_t>> ranked;
  for (int32_t s = 0; s < domain; ++s) {
    const double noise = 0.5 + double(draw(1024)) / 1024;
    ranked.emplace_back(s == label ? -1.0 : double((*reduced_)[node][s]) * noise, s);
  }
  std::nth_element(ranked.begin(), ranked.begin() + (most - 1), ranked.end());
  std::vector<int32_t> best;
  for (int32_t k = 0; k < most; ++k) best.push_back(ranked[k].second);
  std::sort(best.begin(), best.end());
  return best;
}

PairwiseProblem BlockSearch::local_problem(const std::vector<int32_t>& region, const std::vector<int32_t>& labels,
                                           const std::vector<std::vector<int64_t>>& unaries) {
  PairwiseProblem problem;
  problem.unary.resize(region.size());
  for (size_t i = 0; i < region.size(); ++i) {
    const int32_t node = region[i];
    std::vector<int64_t>& unary = problem.unary[i];
    for (int32_t s : allowed_[i]) unary.push_back(unaries[node][s]);
    for (int32_t e : mrf_.incident[node]) {
      const int32_t neighbour = mrf_.other(e, node);
      const TableView view = mrf_.view(e, node);
      const int32_t j = index_in_block_[neighbour];
      if (j < 0) {
        for (size_t k = 0; k < unary.size(); ++k) {
          const int64_t cost = view.at(allowed_[i][k], labels[neighbour]);
          unary[k] = std::min(unary[k] + (is_infinite(cost) ? kPenalty : cost), kInfinite / 4);
        }
      } else if (node < neighbour) {
        PairwiseProblem::Pair pair{static_cast<int32_t>(i), j, {}};
        pair.costs.reserve(allowed_[i].size() * allowed_[j].size());
        for (int32_t s : allowed_[i]) {
          for (int32_t t : allowed_[j]) pair.costs.push_back(view.at(s, t));
        }
        problem.pairs.push_back(std::move(pair));
      }
    }
  }
  return problem;
}

BlockSearch::Block BlockSearch::solve(std::vector<int32_t> region, const std::vector<int32_t>& labels,
                                      const std::vector<std::vector<int64_t>>& unaries, int32_t strategies,
                                      const EliminationBudget& budget) {
  Block block;
  allowed_.clear();
  for (int32_t node : region) allowed_.push_back(allowed_strategies(node, labels[node], strategies));
  for (;;) {
    for (size_t i = 0; i < region.size(); ++i) index_in_block_[region[i]] = static_cast<int32_t>(i);
    const PairwiseProblem problem = local_problem(region, labels, unaries);
    for (int32_t node : region) index_in_block_[node] = -1;
    const auto plan = plan_elimination(problem, budget, true);
    if (!plan->frozen.empty()) {
      std::vector<char> drop(region.size(), 0);
      for (int32_t i : plan->frozen) drop[i] = 1;
      std::vector<int32_t> rest;
      std::vector<std::vector<int32_t>> rest_allowed;
      for (size_t i = 0; i < region.size(); ++i) {
        if (drop[i]) continue;
        rest.push_back(region[i]);
        rest_allowed.push_back(std::move(allowed_[i]));
      }
      region = std::move(rest);
      allowed_ = std::move(rest_allowed);
      continue;
    }
    const EliminationResult result = run_elimination(problem, *plan);
    if (is_infinite(result.cost)) return block;
    block.nodes = std::move(region);
    for (size_t i = 0; i < block.nodes.size(); ++i) block.labels.push_back(allowed_[i][result.labels[i]]);
    return block;
  }
}

MrfCost improve_by_blocks(const Mrf& mrf, BlockSearch& search, std::vector<int32_t>& labels, int64_t blocks) {
  const EliminationBudget budget{20'000, 2'000'000};
  constexpr int32_t kSizes[] = {8, 30, 100, 300};
  constexpr int32_t kStrategies[] = {0, 3, 6, 12};
  if (mrf.size() == 0) return cost_of(mrf, labels);
  for (int64_t b = 0; b < blocks; ++b) {
    const auto block = search.solve(search.random_region(kSizes[search.draw(4)]), labels, mrf.unary,
                                    kStrategies[search.draw(4)], budget);
    // The current labels were among the choices: the block can only improve.
    for (size_t i = 0; i < block.nodes.size(); ++i) labels[block.nodes[i]] = block.labels[i];
  }
  return cost_of(mrf, labels);
}

}  // namespace alpa::solver
