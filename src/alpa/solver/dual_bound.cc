#include "alpa/solver/dual_bound.h"

#include <algorithm>
#include <limits>
#include <map>

#include "alpa/solver/min_plus.h"

namespace alpa::solver {
namespace {

constexpr int64_t kScaledInfinite = int64_t(1) << 61;
constexpr int64_t kHeadroom = int64_t(1) << 57;
constexpr int kMostScaleBits = 20;

int64_t largest_finite(const std::vector<int64_t>& costs) {
  int64_t most = 0;
  for (int64_t cost : costs) {
    if (!is_infinite(cost)) most = std::max(most, cost < 0 ? -cost : cost);
  }
  return most;
}

}  // namespace

DualBound::DualBound(const Mrf& mrf) : mrf_(mrf) {
  Cost total = 1;
  for (const auto& unary : mrf.unary) total += largest_finite(unary);
  for (const Mrf::Edge& edge : mrf.edges) total += largest_finite(edge.table->costs);
  while (scale_bits_ < kMostScaleBits && (total << (scale_bits_ + 1)) < kHeadroom) ++scale_bits_;
  unaries_ = mrf.unary;
  for (auto& unary : unaries_) {
    for (int64_t& cost : unary) cost <<= scale_bits_;
  }
  build_tables();
  refresh();
  decoded_.assign(mrf.size(), 0);
  forced_.resize(mrf.size());
  reduced_.resize(mrf.size());
}

void DualBound::build_tables() {
  std::map<const Table*, int32_t> known;  // Looked up only.
  const auto scaled = [&](int64_t cost) { return is_infinite(cost) ? kScaledInfinite : cost << scale_bits_; };
  later_.resize(mrf_.size());
  earlier_.resize(mrf_.size());
  std::vector<int32_t> table_of;
  for (const Mrf::Edge& edge : mrf_.edges) {
    const Table& table = *edge.table;
    const auto [found, fresh] = known.emplace(&table, static_cast<int32_t>(tables_.size()));
    table_of.push_back(found->second);
    potentials_.emplace_back(table.rows, 0);
    potentials_.emplace_back(table.cols, 0);
    if (!fresh) continue;
    std::vector<int64_t> rows(table.costs.size());
    std::vector<int64_t> cols(table.costs.size());
    for (int32_t r = 0; r < table.rows; ++r) {
      for (int32_t c = 0; c < table.cols; ++c) {
        rows[size_t(r) * table.cols + c] = cols[size_t(c) * table.rows + r] = scaled(table.at(r, c));
      }
    }
    tables_.push_back(std::move(rows));
    tables_.push_back(std::move(cols));
  }
  for (int32_t e = 0; e < static_cast<int32_t>(mrf_.edges.size()); ++e) {
    const Mrf::Edge& edge = mrf_.edges[e];
    later_[edge.a].push_back({tables_[table_of[e]].data(), 2 * e, e, edge.b});
    earlier_[edge.b].push_back({tables_[table_of[e] + 1].data(), 2 * e + 1, e, edge.a});
  }
}

void DualBound::set_unaries(std::vector<std::vector<int64_t>> unaries) {
  unaries_ = std::move(unaries);
  refresh();
}

void DualBound::set_potentials(std::vector<std::vector<int64_t>> potentials) {
  potentials_ = std::move(potentials);
  refresh();
}

void DualBound::refresh() {
  current_ = unaries_;
  least_.resize(current_.size());
  total_ = 0;
  for (int32_t node = 0; node < mrf_.size(); ++node) {
    std::vector<int64_t>& unary = current_[node];
    for (const auto* sides : {&later_[node], &earlier_[node]}) {
      for (const Side& side : *sides) {
        const int64_t* potential = potentials_[side.potential].data();
        for (size_t s = 0; s < unary.size(); ++s) unary[s] += potential[s];
      }
    }
    least_[node] = *std::min_element(unary.begin(), unary.end());
    total_ += least_[node];
  }
}

std::vector<int64_t> DualBound::reparametrised_edge(int32_t edge, bool by_b) const {
  const Table& table = *mrf_.edges[edge].table;
  const std::vector<int64_t>& a = potentials_[2 * edge];
  const std::vector<int64_t>& b = potentials_[2 * edge + 1];
  std::vector<int64_t> result(table.costs.size());
  for (int32_t r = 0; r < table.rows; ++r) {
    for (int32_t c = 0; c < table.cols; ++c) {
      const int64_t cost = table.at(r, c);
      const size_t place = by_b ? size_t(r) * table.cols + c : size_t(c) * table.rows + r;
      result[place] = is_infinite(cost) ? kInfinite : (cost << scale_bits_) - a[r] - b[c];
    }
  }
  return result;
}

void DualBound::visit(int32_t node, bool forward) {
  const auto& send = forward ? later_[node] : earlier_[node];
  std::vector<int64_t>& own_unary = current_[node];
  const auto domain = static_cast<int32_t>(own_unary.size());
  const auto most = static_cast<int64_t>(std::max<size_t>({later_[node].size(), earlier_[node].size(), 1}));
  share_.resize(domain);
  for (int32_t s = 0; s < domain; ++s) share_[s] = own_unary[s] / most;
  const auto settle = [&](int32_t k) {
    const int64_t least = *std::min_element(current_[k].begin(), current_[k].end());
    total_ += least - least_[k];
    least_[k] = least;
  };
  for (const Side& side : send) {
    std::vector<int64_t>& own = potentials_[side.potential];
    for (int32_t s = 0; s < domain; ++s) own[s] -= share_[s];
    for (int32_t s = 0; s < domain; ++s) own_unary[s] -= share_[s];
    std::vector<int64_t>& others = potentials_[side.potential ^ 1];
    std::vector<int64_t>& other_unary = current_[side.neighbour];
    message_.resize(others.size());
    min_plus(side.costs, own.data(), domain, static_cast<int32_t>(others.size()), message_.data());
    for (size_t t = 0; t < others.size(); ++t) {
      other_unary[t] += message_[t] - others[t];
      others[t] = message_[t];
    }
    settle(side.neighbour);
  }
  settle(node);
}

void DualBound::decode(int32_t node) {
  std::vector<int64_t> costs = unaries_[node];
  const auto domain = static_cast<int32_t>(costs.size());
  for (const Side& side : later_[node]) {
    for (int32_t s = 0; s < domain; ++s) costs[s] += potentials_[side.potential][s];
  }
  for (const Side& side : earlier_[node]) {
    // Rows of the side's table are this node's strategies.
    const int32_t cols = mrf_.domain(side.neighbour);
    for (int32_t s = 0; s < domain; ++s) {
      costs[s] += std::min(side.costs[size_t(s) * cols + decoded_[side.neighbour]], kScaledInfinite / 16);
    }
  }
  decoded_[node] = static_cast<int32_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
}

void DualBound::record_forced(int32_t node) {
  const std::vector<int64_t>& unary = current_[node];
  const Cost rest = total_ - least_[node];
  forced_[node].resize(unary.size());
  reduced_[node].resize(unary.size());
  for (size_t s = 0; s < unary.size(); ++s) {
    forced_[node][s] = rest + unary[s];
    reduced_[node][s] = unary[s] - least_[node];
  }
}

void DualBound::hear_pairs(int32_t node, const PairListener& hear) {
  const std::vector<int64_t>& unary = current_[node];
  const Cost rest = total_ - least_[node];
  std::vector<Cost> bounds;
  for (const auto* sides : {&later_[node], &earlier_[node]}) {
    for (const Side& side : *sides) {
      const std::vector<int64_t>& own = potentials_[side.potential];
      const std::vector<int64_t>& others = potentials_[side.potential ^ 1];
      const std::vector<int64_t>& far = current_[side.neighbour];
      const Cost without_both = rest - least_[side.neighbour];
      bounds.clear();
      for (size_t s = 0; s < unary.size(); ++s) {
        const Cost from = without_both + unary[s] - own[s];
        for (size_t t = 0; t < others.size(); ++t) {
          bounds.push_back(from + Cost(side.costs[s * others.size() + t]) - others[t] + far[t]);
        }
      }
      hear(side.edge, sides == &later_[node], bounds);
    }
  }
}

Cost DualBound::sweep() { return pass(nullptr); }

Cost DualBound::sweep_pairs(const PairListener& hear) { return pass(&hear); }

Cost DualBound::pass(const PairListener* hear) {
  for (int32_t node = mrf_.size(); node-- > 0;) visit(node, false);
  for (int32_t node = 0; node < mrf_.size(); ++node) {
    decode(node);
    if (hear != nullptr) hear_pairs(node, *hear);
    record_forced(node);
    visit(node, true);
  }
  return total_;
}

}  // namespace alpa::solver
