#include "alpa/solver/capped_local.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace alpa::solver {
namespace {

constexpr int32_t kSizes[] = {8, 25, 80, 300};
constexpr int64_t kStopInterval = 16;
constexpr int32_t kStrategies[] = {0, 3, 6, 12};
const EliminationBudget kBlockBudget{20'000, 1'500'000};

}  // namespace

CappedLocal::CappedLocal(const Mrf& mrf, const MemoryRows& rows, int64_t limit, uint64_t seed)
    : mrf_(mrf),
      rows_(rows),
      limit_(limit),
      search_(mrf, seed),
      prices_(mrf, rows, limit),
      price_(rows.size(), 0),
      unaries_(mrf.unary),
      in_block_(mrf.size(), 0) {}

void CappedLocal::set_guide(const std::vector<std::vector<int64_t>>* reduced, const std::vector<double>& price) {
  search_.set_guide(reduced);
  price_ = price;
}

void CappedLocal::start(const std::vector<int32_t>& labels) {
  labels_ = labels;
  usage_ = usage_of(rows_, labels_);
  consider();
}

void CappedLocal::apply(const BlockSearch::Block& block) {
  for (size_t i = 0; i < block.nodes.size(); ++i) {
    move_usage(rows_, block.nodes[i], labels_[block.nodes[i]], block.labels[i], usage_);
    labels_[block.nodes[i]] = block.labels[i];
  }
}

void CappedLocal::consider() {
  if (peak_of(rows_, usage_) > limit_) return;
  const MrfCost cost = cost_of(mrf_, labels_);
  if (cost.forbidden > 0 || (known_ && cost.cost >= best_cost_)) return;
  known_ = true;
  best_cost_ = cost.cost;
  best_ = labels_;
  if (listener_) listener_(labels_, cost.cost);
}

/// Raises the prices of the worst rows, lowers those of rows with room.
void CappedLocal::adapt(double rate) {
  const double sum = std::accumulate(price_.begin(), price_.end(), 0.0);
  const auto priced = std::count_if(price_.begin(), price_.end(), [](double p) { return p > 0; });
  const double mean = priced > 0 ? sum / double(priced) : 1.0;
  const double limit = double(std::max<int64_t>(limit_, 1));
  for (int32_t r = 0; r < rows_.size(); ++r) {
    const double slack = (limit - double(usage_[r])) / limit;
    if (slack > 0) price_[r] *= std::max(0.5, 1 - rate * std::min(1.0, 4 * slack));
  }
  for (int32_t r : peak_rows(usage_, limit_)) {
    const double excess = (double(usage_[r]) - limit) / limit;
    price_[r] += rate * std::max(price_[r], mean) * (0.05 + 4 * std::min(excess, 1.0));
  }
}

void CappedLocal::descend(int64_t rounds, int64_t blocks_a_round) {
  for (int64_t round = 0; round < rounds; ++round) {
    prices_.set(price_, 0);
    unaries_ = prices_.unaries();
    for (int64_t b = 0; b < blocks_a_round; ++b) {
      if (b % kStopInterval == 0 && stopped()) return;
      apply(search_.solve(search_.random_region(kSizes[search_.draw(4)]), labels_, unaries_,
                          kStrategies[search_.draw(4)], kBlockBudget));
    }
    consider();
    const double progress = double(round) / double(rounds);
    adapt(0.25 * std::pow(0.12, progress));
  }
}

Cost CappedLocal::change_of(const BlockSearch::Block& block) {
  for (int32_t node : block.nodes) in_block_[node] = 1;
  std::vector<int32_t> old(block.nodes.size());
  const auto local_cost = [&] {
    Cost sum = 0;
    for (int32_t node : block.nodes) {
      sum += mrf_.unary[node][labels_[node]];
      for (int32_t e : mrf_.incident[node]) {
        const int32_t other = mrf_.other(e, node);
        if (in_block_[other] && other < node) continue;
        sum += mrf_.view(e, node).at(labels_[node], labels_[other]);
      }
    }
    return sum;
  };
  const Cost before = local_cost();
  for (size_t i = 0; i < old.size(); ++i) {
    old[i] = labels_[block.nodes[i]];
    labels_[block.nodes[i]] = block.labels[i];
  }
  const Cost after = local_cost();
  for (size_t i = 0; i < old.size(); ++i) labels_[block.nodes[i]] = old[i];
  for (int32_t node : block.nodes) in_block_[node] = 0;
  return after - before;
}

bool CappedLocal::try_block(Cost allowance) {
  const std::vector<int32_t> region = search_.random_region(kSizes[search_.draw(4)]);
  const int32_t strategies = kStrategies[search_.draw(4)];
  std::vector<double> price(price_.size(), 0);
  if (search_.draw(3) != 0) {
    const double factor = std::exp(double(search_.draw(2049)) / 1024 - 1);
    for (size_t r = 0; r < price.size(); ++r) price[r] = price_[r] * factor;
  }
  const double mean = std::accumulate(price_.begin(), price_.end(), 0.0) / double(std::max<size_t>(price_.size(), 1));
  bool changed = false;
  for (int attempt = 0; attempt < 6; ++attempt) {
    prices_.set(price, 0);
    for (int32_t node : region) prices_.unary(node, unaries_[node]);
    const BlockSearch::Block block = search_.solve(region, labels_, unaries_, strategies, kBlockBudget);
    std::vector<int64_t> usage = usage_;
    bool same = true;
    for (size_t i = 0; i < block.nodes.size(); ++i) {
      const int32_t old = labels_[block.nodes[i]];
      same = same && old == block.labels[i];
      move_usage(rows_, block.nodes[i], old, block.labels[i], usage);
    }
    if (same) break;
    if (peak_of(rows_, usage) <= limit_) {
      if (change_of(block) <= allowance) {
        apply(block);
        changed = true;
      }
      for (double& p : price) p *= 0.6;
    } else {
      const double raise = 1.3 + 0.6 * double(attempt);
      for (int32_t r : peak_rows(usage, limit_)) price[r] = std::max(price[r], mean + 1e-12) * raise;
    }
  }
  return changed;
}

void CappedLocal::improve(int64_t blocks) {
  if (!known_) return;
  start(best_);
  for (int64_t b = 0; b < blocks; ++b) {
    if (b % kStopInterval == 0 && stopped()) return;
    const double heat = 2e-4 * (1 - double(b) / double(blocks));
    const Cost allowance = search_.draw(4) == 0 ? Cost(heat * double(best_cost_)) : 0;
    if (try_block(allowance)) consider();
    if (b % 300 == 299 && cost_of(mrf_, labels_).cost > best_cost_) start(best_);
  }
}

}  // namespace alpa::solver
