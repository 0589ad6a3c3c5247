#include "alpa/solver/dual_bound.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "alpa/solver/min_plus.h"

namespace alpa::solver {
namespace {

constexpr int64_t kScaledInfinite = int64_t(1) << 61;
constexpr int64_t kHeadroom = int64_t(1) << 57;
constexpr int64_t kRuledOut = kHeadroom;  // More than any labelling costs.
constexpr int kMostScaleBits = 20;

int64_t largest_finite(const std::vector<int64_t>& costs) {
  int64_t most = 0;
  for (int64_t cost : costs) {
    if (!is_infinite(cost)) most = std::max(most, cost < 0 ? -cost : cost);
  }
  return most;
}

}  // namespace

DualBound::DualBound(const Mrf& mrf) : mrf_(&mrf) {
  Cost total = 1;
  for (const auto& unary : mrf.unary) total += largest_finite(unary);
  for (const Mrf::Edge& edge : mrf.edges) total += largest_finite(edge.table->costs);
  while (scale_bits_ < kMostScaleBits && (total << (scale_bits_ + 1)) < kHeadroom) ++scale_bits_;
  for (const Mrf::Edge& edge : mrf.edges) {
    potentials_.resize(potentials_.size() + size_t(edge.table->rows) + size_t(edge.table->cols), 0);
  }
  build_edges(nullptr);
}

DualBound::DualBound(const Mrf& mrf, const DualBound& whole, const std::vector<std::vector<int32_t>>& kept)
    : mrf_(&mrf), scale_bits_(whole.scale_bits_) {
  const auto pick = [&](const auto& all, int32_t node) {
    std::remove_cvref_t<decltype(all)> picked;
    for (int32_t s : kept[node]) picked.push_back(all[s]);
    return picked;
  };
  for (int32_t e = 0; e < static_cast<int32_t>(mrf.edges.size()); ++e) {
    for (int32_t s : kept[mrf.edges[e].a]) potentials_.push_back(whole.potential(2 * e)[s]);
    for (int32_t s : kept[mrf.edges[e].b]) potentials_.push_back(whole.potential(2 * e + 1)[s]);
  }
  build_edges(&whole);
  for (int32_t i = 0; i < mrf.size(); ++i) forced_[i] = pick(whole.forced_[i], i);
}

std::shared_ptr<const DualBound::Scaled> DualBound::scaled(const TablePtr& table) const {
  const auto scale = [&](int64_t cost) { return is_infinite(cost) ? kScaledInfinite : cost << scale_bits_; };
  auto result = std::make_shared<Scaled>();
  result->original = table;
  result->rows.resize(table->costs.size());
  result->cols.resize(table->costs.size());
  for (int32_t r = 0; r < table->rows; ++r) {
    for (int32_t c = 0; c < table->cols; ++c) {
      const int64_t cost = scale(table->at(r, c));
      result->rows[size_t(r) * table->cols + c] = result->cols[size_t(c) * table->rows + r] = cost;
    }
  }
  return result;
}

void DualBound::build_edges(const DualBound* whole) {
  unaries_ = mrf_->unary;
  for (auto& unary : unaries_) {
    for (int64_t& cost : unary) cost <<= scale_bits_;
  }
  auto edges = std::make_shared<Edges>();
  edges->later.resize(mrf_->size());
  edges->earlier.resize(mrf_->size());
  size_t place = 0;
  for (int32_t e = 0; e < static_cast<int32_t>(mrf_->edges.size()); ++e) {
    const Mrf::Edge& edge = mrf_->edges[e];
    edges->places.push_back(place);
    edges->places.push_back(place + size_t(edge.table->rows));
    place += size_t(edge.table->rows) + size_t(edge.table->cols);
    auto& table = edges->tables[edge.table.get()];
    if (table == nullptr && whole != nullptr) {
      const auto known = whole->edges_->tables.find(edge.table.get());
      if (known != whole->edges_->tables.end()) table = known->second;
    }
    if (table == nullptr) table = scaled(edge.table);
    edges->later[edge.a].push_back({table->rows.data(), 2 * e, e, edge.b});
    edges->earlier[edge.b].push_back({table->cols.data(), 2 * e + 1, e, edge.a});
  }
  edges_ = std::move(edges);
  refresh();
  decoded_.assign(mrf_->size(), 0);
  forced_.resize(mrf_->size());
  reduced_.resize(mrf_->size());
}

void DualBound::choose(int32_t node, int32_t strategy) {
  for (int32_t s = 0; s < mrf_->domain(node); ++s) {
    if (s == strategy) continue;
    unaries_[node][s] += kRuledOut;
    current_[node][s] += kRuledOut;
  }
  const int64_t least = *std::min_element(current_[node].begin(), current_[node].end());
  total_ += least - least_[node];
  least_[node] = least;
}

void DualBound::set_unaries(std::vector<std::vector<int64_t>> unaries) {
  unaries_ = std::move(unaries);
  refresh();
}

void DualBound::set_potentials(std::vector<int64_t> potentials) {
  potentials_ = std::move(potentials);
  refresh();
}

void DualBound::refresh() {
  current_ = unaries_;
  least_.resize(current_.size());
  total_ = 0;
  for (int32_t node = 0; node < mrf_->size(); ++node) {
    std::vector<int64_t>& unary = current_[node];
    for (const auto* sides : {&edges_->later[node], &edges_->earlier[node]}) {
      for (const Side& side : *sides) {
        const int64_t* own = potential(side.potential);
        for (size_t s = 0; s < unary.size(); ++s) unary[s] += own[s];
      }
    }
    least_[node] = *std::min_element(unary.begin(), unary.end());
    total_ += least_[node];
  }
}

std::vector<int64_t> DualBound::reparametrised_edge(int32_t edge, bool by_b) const {
  const Table& table = *mrf_->edges[edge].table;
  const int64_t* a = potential(2 * edge);
  const int64_t* b = potential(2 * edge + 1);
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

void DualBound::visit(int32_t node, bool forward, const std::vector<char>* inside) {
  const auto& send = forward ? edges_->later[node] : edges_->earlier[node];
  std::vector<int64_t>& own_unary = current_[node];
  const auto domain = static_cast<int32_t>(own_unary.size());
  const auto takes_part = [&](const Side& side) { return inside == nullptr || (*inside)[side.neighbour]; };
  const auto most =
      std::max<int64_t>({std::count_if(edges_->later[node].begin(), edges_->later[node].end(), takes_part),
                         std::count_if(edges_->earlier[node].begin(), edges_->earlier[node].end(), takes_part), 1});
  share_.resize(domain);
  // Any whole share will do, and a product is much quicker than a division.
  const double part = 1.0 / double(most);
  for (int32_t s = 0; s < domain; ++s) share_[s] = most == 1 ? own_unary[s] : int64_t(double(own_unary[s]) * part);
  const auto settle = [&](int32_t k) {
    const int64_t least = *std::min_element(current_[k].begin(), current_[k].end());
    total_ += least - least_[k];
    least_[k] = least;
  };
  for (const Side& side : send) {
    if (!takes_part(side)) continue;
    int64_t* own = potentials_.data() + edges_->places[side.potential];
    for (int32_t s = 0; s < domain; ++s) own[s] -= share_[s];
    for (int32_t s = 0; s < domain; ++s) own_unary[s] -= share_[s];
    int64_t* others = potentials_.data() + edges_->places[side.potential ^ 1];
    std::vector<int64_t>& other_unary = current_[side.neighbour];
    message_.resize(other_unary.size());
    min_plus(side.costs, own, domain, static_cast<int32_t>(other_unary.size()), message_.data());
    for (size_t t = 0; t < other_unary.size(); ++t) {
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
  for (const Side& side : edges_->later[node]) {
    for (int32_t s = 0; s < domain; ++s) costs[s] += potential(side.potential)[s];
  }
  for (const Side& side : edges_->earlier[node]) {
    // Rows of the side's table are this node's strategies.
    const int32_t cols = mrf_->domain(side.neighbour);
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
  for (const auto* sides : {&edges_->later[node], &edges_->earlier[node]}) {
    for (const Side& side : *sides) {
      const int64_t* own = potential(side.potential);
      const int64_t* others = potential(side.potential ^ 1);
      const std::vector<int64_t>& far = current_[side.neighbour];
      const Cost without_both = rest - least_[side.neighbour];
      bounds.clear();
      for (size_t s = 0; s < unary.size(); ++s) {
        const Cost from = without_both + unary[s] - own[s];
        for (size_t t = 0; t < far.size(); ++t) {
          bounds.push_back(from + Cost(side.costs[s * far.size() + t]) - others[t] + far[t]);
        }
      }
      hear(side.edge, sides == &edges_->later[node], bounds);
    }
  }
}

Cost DualBound::sweep() { return pass(false, nullptr); }

Cost DualBound::sweep_in_silence() { return pass(true, nullptr); }

Cost DualBound::sweep_among(const std::vector<int32_t>& nodes) {
  std::vector<char> inside(size_t(mrf_->size()), 0);
  for (int32_t node : nodes) inside[node] = 1;
  for (size_t k = nodes.size(); k-- > 0;) visit(nodes[k], false, &inside);
  for (int32_t node : nodes) visit(node, true, &inside);
  return total_;
}

Cost DualBound::sweep_pairs(const PairListener& hear) { return pass(false, &hear); }

Cost DualBound::pass(bool silent, const PairListener* hear) {
  for (int32_t node = mrf_->size(); node-- > 0;) visit(node, false);
  for (int32_t node = 0; node < mrf_->size(); ++node) {
    if (!silent) decode(node);
    if (hear != nullptr) hear_pairs(node, *hear);
    if (!silent) record_forced(node);
    visit(node, true);
  }
  return total_;
}

}  // namespace alpa::solver
