#include "alpa/solver/memory_reduction.h"

#include <algorithm>
#include <vector>

#include "alpa/solver/dominance.h"

namespace alpa::solver {
namespace {

/// Drops the strategies that, with every other node at its least, pass the limit at some row.
bool drop_too_big(Graph& graph, const Mrf& mrf, const MemoryRows& rows, int64_t limit) {
  bool changed = false;
  for (int32_t i = 0; i < mrf.size(); ++i) {
    std::vector<char> keep(mrf.domain(i), 1);
    for (const MemoryRows::Span& span : rows.spans[i]) {
      const int64_t base = *std::max_element(rows.base.begin() + span.first, rows.base.begin() + span.last);
      for (size_t s = 0; s < keep.size(); ++s) keep[s] = keep[s] && base + span.usage[s] <= limit;
    }
    if (std::all_of(keep.begin(), keep.end(), [](char kept) { return kept != 0; })) continue;
    graph.restrict_to(mrf.vertex[i], keep);
    changed = true;
  }
  return changed;
}

}  // namespace

bool reduce_by_memory(Graph& graph, const Mrf& mrf, const MemoryRows& rows, int64_t limit) {
  if (drop_too_big(graph, mrf, rows, limit)) return true;
  bool changed = false;
  UsageProfiles profiles(graph.size());
  for (int32_t i = 0; i < mrf.size(); ++i) {
    Graph::Vertex& vertex = graph.vertex(mrf.vertex[i]);
    if (rows.spans[i].empty()) {
      changed = changed || vertex.uses_memory;
      vertex.dirty = vertex.dirty || vertex.uses_memory;
      vertex.uses_memory = false;
    }
    for (const MemoryRows::Span& span : rows.spans[i]) profiles[mrf.vertex[i]].push_back(span.usage);
  }
  return drop_dominated(graph, &profiles) || changed;
}

}  // namespace alpa::solver
