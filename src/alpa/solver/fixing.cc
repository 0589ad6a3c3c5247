#include "alpa/solver/fixing.h"

#include <algorithm>

namespace alpa::solver {

int64_t fix_by_bound(Graph& graph, const Mrf& mrf, const std::vector<std::vector<Cost>>& forced, Cost limit) {
  int64_t dropped = 0;
  for (int32_t i = 0; i < mrf.size(); ++i) {
    std::vector<char> keep(forced[i].size());
    for (size_t s = 0; s < keep.size(); ++s) {
      keep[s] = forced[i][s] < limit;
      dropped += !keep[s];
    }
    graph.restrict_to(mrf.vertex[i], keep);
  }
  return dropped;
}

int64_t fix_pairs(Graph& graph, const Mrf& mrf, DualBound& dual, Cost rebate, Cost limit) {
  std::vector<std::vector<int64_t>> tables(mrf.edges.size());
  int64_t dropped = 0;
  dual.sweep_pairs([&](int32_t e, bool from_a, const std::vector<Cost>& bounds) {
    const Table& table = *mrf.edges[e].table;
    for (int32_t r = 0; r < table.rows; ++r) {
      for (int32_t c = 0; c < table.cols; ++c) {
        const size_t seen = from_a ? size_t(r) * table.cols + c : size_t(c) * table.rows + r;
        const size_t entry = size_t(r) * table.cols + c;
        if (bounds[seen] - rebate < limit || is_infinite(table.costs[entry])) continue;
        if (tables[e].empty()) tables[e] = table.costs;
        dropped += !is_infinite(tables[e][entry]);
        tables[e][entry] = kInfinite;
      }
    }
  });
  for (size_t e = 0; e < tables.size(); ++e) {
    if (tables[e].empty()) continue;
    const Mrf::Edge& edge = mrf.edges[e];
    const int32_t a = mrf.vertex[edge.a];
    const int32_t l = graph.find_link(a, mrf.vertex[edge.b]);
    std::vector<int64_t> costs = std::move(tables[e]);
    if (graph.link(l).a != a) {
      std::vector<int64_t> turned(costs.size());
      for (int32_t r = 0; r < edge.table->rows; ++r) {
        for (int32_t c = 0; c < edge.table->cols; ++c) {
          turned[size_t(c) * edge.table->rows + r] = costs[size_t(r) * edge.table->cols + c];
        }
      }
      costs = std::move(turned);
    }
    const Table& old = *graph.link(l).table;
    graph.set_table(l, std::make_shared<Table>(old.rows, old.cols, std::move(costs)));
  }
  return dropped;
}

std::vector<int32_t> labels_of(const Graph& graph, const Mrf& mrf, const std::vector<int32_t>& choice) {
  std::vector<int32_t> labels(mrf.size(), -1);
  for (int32_t i = 0; i < mrf.size(); ++i) {
    const std::vector<int32_t>& label = graph.vertex(mrf.vertex[i]).label;
    const auto found = std::find(label.begin(), label.end(), choice[mrf.vertex[i]]);
    if (found != label.end()) labels[i] = static_cast<int32_t>(found - label.begin());
  }
  return labels;
}

}  // namespace alpa::solver
