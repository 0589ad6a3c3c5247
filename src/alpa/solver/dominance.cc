#include "alpa/solver/dominance.h"

#include <algorithm>
#include <vector>

namespace alpa::solver {
namespace {

constexpr int64_t kMostWork = 100'000'000;

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

bool beats(const Graph& graph, const std::vector<int32_t>& links, int32_t v, int32_t s, int32_t d) {
  int64_t slack = graph.vertex(v).cost[d] - graph.vertex(v).cost[s];
  for (int32_t l : links) {
    const int64_t loss = largest_loss(graph.view(l, v), s, d);
    if (is_infinite(loss)) return false;
    slack -= loss;
  }
  return slack >= 0;
}

bool uses_no_more(const std::vector<std::vector<int64_t>>& profile, int32_t s, int32_t d) {
  return std::all_of(profile.begin(), profile.end(), [&](const auto& usage) { return usage[s] <= usage[d]; });
}

}  // namespace

bool drop_dominated(Graph& graph, const UsageProfiles* profiles) {
  const std::vector<std::vector<int64_t>> free;
  bool dropped = false;
  for (int32_t v = 0; v < graph.size(); ++v) {
    const Graph::Vertex& vertex = graph.vertex(v);
    const int32_t domain = graph.domain(v);
    if (!vertex.alive || domain < 2 || (vertex.uses_memory && profiles == nullptr)) continue;
    const auto& profile = profiles == nullptr ? free : (*profiles)[v];
    const std::vector<int32_t>& links = graph.links_of(v);
    int64_t others = 1;
    for (int32_t l : links) others += graph.view(l, v).other();
    if (others * domain * domain > kMostWork) continue;
    std::vector<char> keep(domain, 1);
    bool any = false;
    for (int32_t d = 0; d < domain; ++d) {
      for (int32_t s = 0; s < domain && keep[d]; ++s) {
        if (s != d && keep[s] && uses_no_more(profile, s, d) && beats(graph, links, v, s, d)) {
          keep[d] = 0;
          any = true;
        }
      }
    }
    if (any) graph.restrict_to(v, keep);
    dropped = dropped || any;
  }
  return dropped;
}

}  // namespace alpa::solver
