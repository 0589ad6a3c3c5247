#include "alpa/solver/branch.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "alpa/solver/component_solver.h"

namespace alpa::solver {

Branch::Branch(std::shared_ptr<const Mrf> mrf, DualBound dual) : mrf_(std::move(mrf)), dual_(std::move(dual)) {
  std::vector<std::vector<int32_t>> all(size());
  for (int32_t i = 0; i < mrf_->size(); ++i) {
    all[i].resize(size_t(mrf_->domain(i)));
    std::iota(all[i].begin(), all[i].end(), 0);
  }
  strategies_ = std::make_shared<const std::vector<std::vector<int32_t>>>(std::move(all));
  sweep(1, 0);
}

void Branch::sweep(int sweeps, Cost limit) {
  bound_ = sweeps > 1 ? dual_.sweep_in_silence() : 0;
  for (int k = 2; k < sweeps && bound_ < limit; ++k) bound_ = dual_.sweep_in_silence();
  if (sweeps == 1 || bound_ < limit) bound_ = dual_.sweep();
}

int32_t Branch::hub() const {
  int32_t best = -1;
  int64_t most = -1;
  for (int32_t i = 0; i < mrf_->size(); ++i) {
    if (mrf_->domain(i) < 2) continue;
    const auto& incident = mrf_->incident[i];
    const int64_t count =
        std::count_if(incident.begin(), incident.end(), [&](int32_t e) { return mrf_->domain(mrf_->other(e, i)) > 1; });
    if (count > most) {
      most = count;
      best = i;
    }
  }
  return best;
}

std::vector<int32_t> Branch::ranked(int32_t node) const {
  std::vector<int32_t> order(size_t(mrf_->domain(node)));
  std::iota(order.begin(), order.end(), 0);
  const std::vector<Cost>& forced = dual_.forced()[node];
  std::stable_sort(order.begin(), order.end(), [&](int32_t s, int32_t t) { return forced[s] < forced[t]; });
  return order;
}

std::vector<int32_t> Branch::around(int32_t node, size_t most) const {
  std::vector<int32_t> nodes = {node};
  std::vector<char> seen(size_t(mrf_->size()), 0);
  seen[node] = 1;
  for (size_t next = 0; next < nodes.size() && nodes.size() < most; ++next) {
    for (int32_t e : mrf_->incident[nodes[next]]) {
      const int32_t other = mrf_->other(e, nodes[next]);
      if (seen[other] || mrf_->domain(other) < 2 || nodes.size() == most) continue;
      seen[other] = 1;
      nodes.push_back(other);
    }
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

Branch Branch::choose(int32_t node, int32_t strategy) const {
  Branch result = *this;
  result.dual_.choose(node, strategy);
  return result;
}

void Branch::sweep_among(const std::vector<int32_t>& nodes, int sweeps, Cost limit) {
  for (int k = 0; k < sweeps && (k == 0 || bound_ < limit); ++k) bound_ = dual_.sweep_among(nodes);
}

bool Branch::narrow(Cost limit) {
  std::vector<std::vector<int32_t>> kept(size());
  std::vector<std::vector<int32_t>> left(size());
  for (int32_t i = 0; i < mrf_->size(); ++i) {
    for (int32_t s = 0; s < mrf_->domain(i); ++s) {
      if (dual_.forced()[i][s] >= limit) continue;
      kept[i].push_back(s);
      left[i].push_back((*strategies_)[i][s]);
    }
    if (kept[i].empty()) return false;
  }
  strategies_ = std::make_shared<const std::vector<std::vector<int32_t>>>(std::move(left));
  auto part = std::make_shared<const Mrf>(restricted(*mrf_, kept));
  DualBound dual(*part, dual_, kept);
  mrf_ = std::move(part);
  dual_ = std::move(dual);
  return true;
}

std::optional<Branch::Minimum> Branch::minimum(const EliminationBudget& budget) const {
  const PairwiseProblem problem = pairwise_problem(*mrf_);
  const auto plan = plan_elimination(problem, budget, false);
  if (!plan) return std::nullopt;
  EliminationResult result = run_elimination(problem, *plan);
  for (int32_t i = 0; i < mrf_->size(); ++i) result.labels[i] = (*strategies_)[i][result.labels[i]];
  return Minimum{Cost(result.cost) << dual_.scale_bits(), std::move(result.labels)};
}

std::vector<int32_t> Branch::decoded() const {
  std::vector<int32_t> labels;
  for (int32_t i = 0; i < mrf_->size(); ++i) labels.push_back((*strategies_)[i][dual_.decoded()[i]]);
  return labels;
}

}  // namespace alpa::solver
