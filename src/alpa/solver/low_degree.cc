#include "alpa/solver/low_degree.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "alpa/solver/min_plus.h"

namespace alpa::solver {
namespace {

void eliminate_isolated(Graph& graph, int32_t v) {
  const Graph::Vertex& vertex = graph.vertex(v);
  const auto best = std::min_element(vertex.cost.begin(), vertex.cost.end()) - vertex.cost.begin();
  if (is_infinite(vertex.cost[best])) return graph.set_infeasible();
  graph.add_constant(vertex.cost[best]);
  Graph::Record record;
  record.choice = {vertex.label[best]};
  graph.retire(v, std::move(record));
}

void eliminate_leaf(Graph& graph, int32_t v) {
  const int32_t l = graph.links_of(v)[0];
  const int32_t u = graph.other(l, v);
  const TablePtr keep_alive = graph.link(l).table;
  const TableView view = graph.view(l, v);
  const Graph::Vertex& leaf = graph.vertex(v);
  Graph::Vertex& parent = graph.vertex(u);
  Graph::Record record;
  record.parents = {u};
  record.choice.assign(parent.original_size, -1);
  for (int32_t s = 0; s < view.other(); ++s) {
    int32_t best = 0;
    int64_t least = kInfinite;
    for (int32_t t = 0; t < view.own(); ++t) {
      const int64_t cost = add_costs(leaf.cost[t], view.at(t, s));
      if (cost < least) std::tie(least, best) = std::pair(cost, t);
    }
    parent.cost[s] = add_costs(parent.cost[s], least);
    record.choice[parent.label[s]] = leaf.label[best];
  }
  graph.remove_link(l);
  graph.retire(v, std::move(record));
}

/// Entries by the vertex's strategy (rows) and the neighbour's (columns).
std::vector<int64_t> rows_of(const TableView& view) {
  std::vector<int64_t> result;
  result.reserve(size_t(view.own()) * size_t(view.other()));
  for (int32_t t = 0; t < view.own(); ++t) {
    for (int32_t s = 0; s < view.other(); ++s) result.push_back(view.at(t, s));
  }
  return result;
}

struct Bridge {
  std::vector<int64_t> costs;  ///< By strategies of the two neighbours, row-major.
  std::vector<int64_t> best;   ///< The vertex's strategy that gives them.
};

Bridge minimise_bridge(const TableView& left, const TableView& right, const std::vector<int64_t>& cost) {
  const size_t rows = left.other();
  const size_t cols = right.other();
  const std::vector<int64_t> right_rows = rows_of(right);
  Bridge bridge{std::vector<int64_t>(rows * cols, kInfinite), std::vector<int64_t>(rows * cols, 0)};
  for (size_t s = 0; s < rows; ++s) {
    int64_t* least = bridge.costs.data() + s * cols;
    for (int32_t t = 0; t < left.own(); ++t) {
      const int64_t shift = add_costs(left.at(t, static_cast<int32_t>(s)), cost[t]);
      if (is_infinite(shift)) continue;
      fold_minimum(right_rows.data() + t * cols, shift, right.other(), t, least, bridge.best.data() + s * cols);
    }
  }
  for (int64_t& entry : bridge.costs) entry = is_infinite(entry) ? kInfinite : entry;
  return bridge;
}

bool eliminate_bridge(Graph& graph, int32_t v) {
  const int32_t first = graph.links_of(v)[0];
  const int32_t second = graph.links_of(v)[1];
  const int32_t u = graph.other(first, v);
  const int32_t w = graph.other(second, v);
  const int32_t rows = graph.domain(u);
  const int32_t cols = graph.domain(w);
  const int64_t entries = int64_t(rows) * cols;
  if (entries > std::max<int64_t>(1024, 2 * int64_t(graph.domain(v)) * (rows + cols))) return false;
  const Graph::Vertex& vertex = graph.vertex(v);
  const Graph::Vertex& row_vertex = graph.vertex(u);
  const Graph::Vertex& col_vertex = graph.vertex(w);
  Bridge bridge = minimise_bridge(graph.view(first, v), graph.view(second, v), vertex.cost);
  Graph::Record record;
  record.parents = {u, w};
  record.choice.assign(size_t(row_vertex.original_size) * col_vertex.original_size, -1);
  for (int32_t s = 0; s < rows; ++s) {
    int32_t* choice = record.choice.data() + size_t(row_vertex.label[s]) * col_vertex.original_size;
    const int64_t* best = bridge.best.data() + size_t(s) * cols;
    for (int32_t r = 0; r < cols; ++r) choice[col_vertex.label[r]] = vertex.label[best[r]];
  }
  graph.remove_link(first);
  graph.remove_link(second);
  graph.retire(v, std::move(record));
  graph.add_link(u, w, std::make_shared<Table>(rows, cols, std::move(bridge.costs)));
  return true;
}

bool eliminate(Graph& graph, int32_t v) {
  const Graph::Vertex& vertex = graph.vertex(v);
  const bool bound_by_memory = vertex.uses_memory && (graph.domain(v) > 1 || vertex.degree > 0);
  if (!vertex.alive || bound_by_memory || vertex.degree > 2) return false;
  if (vertex.degree == 0) {
    eliminate_isolated(graph, v);
  } else if (vertex.degree == 1) {
    eliminate_leaf(graph, v);
  } else {
    return eliminate_bridge(graph, v);
  }
  return true;
}

}  // namespace

bool eliminate_low_degree(Graph& graph) {
  bool any = false;
  std::vector<int32_t> queue(graph.size());
  for (int32_t v = 0; v < graph.size(); ++v) queue[v] = v;
  while (!queue.empty()) {
    std::vector<int32_t> next;
    for (int32_t v : queue) {
      if (!graph.vertex(v).alive) continue;
      std::vector<int32_t> neighbours;
      if (graph.vertex(v).degree <= 2) {
        for (int32_t l : graph.links_of(v)) neighbours.push_back(graph.other(l, v));
      }
      if (!eliminate(graph, v)) continue;
      if (graph.infeasible()) return true;
      any = true;
      next.insert(next.end(), neighbours.begin(), neighbours.end());
    }
    queue = std::move(next);
  }
  return any;
}

}  // namespace alpa::solver
