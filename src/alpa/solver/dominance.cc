#include "alpa/solver/dominance.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace alpa::solver {
namespace {

constexpr int64_t kMostWork = 100'000'000;

/// A link as the vertex under test sees it. Its table is held: the pass may replace it in the graph.
struct Side {
  TableView view;
  const std::vector<int32_t>* cheapest = nullptr;  ///< Of each own strategy: the partner of its least entry.
};

/// Largest loss at one link from taking s in place of d; kInfinite where s forbids what d allows.
int64_t largest_loss(const TableView& view, int32_t s, int32_t d) {
  int64_t loss = -kInfinite;
  for (int32_t t = 0; t < view.other(); ++t) {
    const int64_t there = view.at(d, t);
    if (is_infinite(there)) continue;
    const int64_t here = view.at(s, t);
    if (is_infinite(here)) return kInfinite;
    loss = std::max(loss, here - there);
  }
  return loss;
}

/// The partner of each strategy's least entry, computed once a table and end.
class CheapestPartners {
 public:
  const std::vector<int32_t>& of(const TablePtr& table, bool rows) {
    const auto [found, fresh] = known_.try_emplace({table.get(), rows});
    if (fresh) {
      found->second.table = table;
      found->second.partner = find(TableView(*table, rows));
    }
    return found->second.partner;
  }

 private:
  struct Entry {
    TablePtr table;  ///< Kept, so that no other table takes its address.
    std::vector<int32_t> partner;
  };

  static std::vector<int32_t> find(const TableView& view) {
    std::vector<int32_t> partner(view.own(), 0);
    for (int32_t s = 0; s < view.own(); ++s) {
      for (int32_t t = 1; t < view.other(); ++t) {
        if (view.at(s, t) < view.at(s, partner[s])) partner[s] = t;
      }
    }
    return partner;
  }

  std::map<std::pair<const Table*, bool>, Entry> known_;  // Looked up only.
};

/// c(d) - c(s) less what s loses at each link where d is cheapest, one a strategy s: below 0, s does not beat d. That
/// rules out nearly all pairs without a look at their rows.
void quick_slack(const std::vector<int64_t>& cost, const std::vector<Side>& sides, int32_t d,
                 std::vector<int64_t>& slack) {
  const auto domain = static_cast<int32_t>(cost.size());
  for (int32_t s = 0; s < domain; ++s) slack[s] = cost[d] - cost[s];
  for (const Side& side : sides) {
    const int32_t t = (*side.cheapest)[d];
    const int64_t there = side.view.at(d, t);
    if (is_infinite(there)) continue;  // No partner at all: d loses nothing by going.
    for (int32_t s = 0; s < domain; ++s) {
      // One forbidden entry decides, and two would not fit.
      slack[s] = std::max(slack[s] - (side.view.at(s, t) - there), -kInfinite);
    }
  }
}

/// Whether s beats d, given their quick slack.
bool beats(const std::vector<Side>& sides, int64_t slack, int32_t s, int32_t d) {
  for (size_t k = 0; k < sides.size() && slack >= 0; ++k) {
    const TableView& view = sides[k].view;
    const int32_t t = (*sides[k].cheapest)[d];
    if (is_infinite(view.at(d, t))) continue;
    const int64_t loss = largest_loss(view, s, d);
    if (is_infinite(loss)) return false;
    slack -= loss - (view.at(s, t) - view.at(d, t));
  }
  return slack >= 0;
}

bool uses_no_more(const std::vector<std::vector<int64_t>>& profile, int32_t s, int32_t d) {
  return std::all_of(profile.begin(), profile.end(), [&](const auto& usage) { return usage[s] <= usage[d]; });
}

/// Which strategies of a vertex stay.
std::vector<char> undominated(const std::vector<int64_t>& cost, const std::vector<Side>& sides,
                              const std::vector<std::vector<int64_t>>& profile) {
  const auto domain = static_cast<int32_t>(cost.size());
  std::vector<char> keep(domain, 1);
  std::vector<int64_t> slack(domain);
  for (int32_t d = 0; d < domain; ++d) {
    quick_slack(cost, sides, d, slack);
    for (int32_t s = 0; s < domain && keep[d]; ++s) {
      if (s == d || !keep[s] || slack[s] < 0 || !uses_no_more(profile, s, d)) continue;
      if (beats(sides, slack[s], s, d)) keep[d] = 0;
    }
  }
  return keep;
}

}  // namespace

bool drop_dominated(Graph& graph, const UsageProfiles* profiles) {
  const std::vector<std::vector<int64_t>> free;
  CheapestPartners cheapest;
  bool dropped = false;
  for (int32_t v = 0; v < graph.size(); ++v) {
    const Graph::Vertex& vertex = graph.vertex(v);
    const int32_t domain = graph.domain(v);
    if (!vertex.alive || domain < 2 || (vertex.uses_memory && profiles == nullptr)) continue;
    if (!graph.take_dirty(v) && !vertex.uses_memory) continue;
    std::vector<Side> sides;
    int64_t others = 1;
    for (int32_t l : graph.links_of(v)) {
      const Graph::Link& link = graph.link(l);
      sides.push_back({graph.view(l, v), &cheapest.of(link.table, link.a == v)});
      others += sides.back().view.other();
    }
    if (others * domain * domain > kMostWork) continue;
    const std::vector<char> keep = undominated(vertex.cost, sides, profiles == nullptr ? free : (*profiles)[v]);
    if (std::all_of(keep.begin(), keep.end(), [](char kept) { return kept != 0; })) continue;
    graph.restrict_to(v, keep);
    dropped = true;
  }
  return dropped;
}

}  // namespace alpa::solver
