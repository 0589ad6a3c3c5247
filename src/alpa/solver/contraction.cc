#include "alpa/solver/contraction.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace alpa::solver {
namespace {

bool is_identity(const std::vector<int32_t>& map, int32_t size) {
  if (map.size() != size_t(size)) return false;
  for (int32_t s = 0; s < size; ++s) {
    if (map[s] != s) return false;
  }
  return true;
}

/// The table with rows (or columns) picked by `map`.
TablePtr reindex(const Table& old, bool rows, const std::vector<int32_t>& map) {
  const auto count = static_cast<int32_t>(map.size());
  std::vector<int64_t> costs;
  costs.reserve(size_t(count) * size_t(rows ? old.cols : old.rows));
  if (rows) {
    for (int32_t r = 0; r < count; ++r) {
      for (int32_t c = 0; c < old.cols; ++c) costs.push_back(old.at(map[r], c));
    }
    return std::make_shared<Table>(count, old.cols, std::move(costs));
  }
  for (int32_t r = 0; r < old.rows; ++r) {
    for (int32_t c = 0; c < count; ++c) costs.push_back(old.at(r, map[c]));
  }
  return std::make_shared<Table>(old.rows, count, std::move(costs));
}

/// Hands v's links to u, re-indexed.
void move_links(Graph& graph, int32_t v, int32_t u, const std::vector<int32_t>& map) {
  const bool identity = is_identity(map, graph.domain(v));
  std::vector<std::pair<TablePtr, TablePtr>> memo[2];
  const std::vector<int32_t> links = graph.links_of(v);
  for (int32_t l : links) {
    const Graph::Link link = graph.link(l);
    const bool rows = link.a == v;
    graph.remove_link(l);
    TablePtr table = link.table;
    if (!identity) {
      auto& done = memo[rows];
      auto found = std::find_if(done.begin(), done.end(), [&](const auto& pair) { return pair.first == link.table; });
      if (found == done.end()) {
        if (done.size() >= 16) done.clear();
        done.emplace_back(link.table, reindex(*link.table, rows, map));
        found = done.end() - 1;
      }
      table = found->second;
    }
    if (rows) {
      graph.add_link(u, link.b, std::move(table));
    } else {
      graph.add_link(link.a, u, std::move(table));
    }
  }
}

void contract(Graph& graph, int32_t v, int32_t u, int32_t l) {
  const TablePtr keep_alive = graph.link(l).table;
  const TableView view = graph.view(l, u);
  Graph::Vertex& parent = graph.vertex(u);
  Graph::Record record;
  record.parents = {u};
  record.choice.assign(parent.original_size, -1);
  std::vector<int32_t> map(view.own(), -1);
  for (int32_t s = 0; s < view.own(); ++s) {
    for (int32_t t = 0; t < view.other() && map[s] < 0; ++t) {
      if (!is_infinite(view.at(s, t))) map[s] = t;
    }
    record.choice[parent.label[s]] = graph.vertex(v).label[map[s]];
    parent.cost[s] += graph.vertex(v).cost[map[s]] + view.at(s, map[s]);
  }
  parent.uses_memory = parent.uses_memory || graph.vertex(v).uses_memory;
  graph.remove_link(l);
  move_links(graph, v, u, map);
  graph.retire(v, std::move(record));
}

}  // namespace

bool contract_if_functional(Graph& graph, int32_t l) {
  const Graph::Link link = graph.link(l);
  const bool a_decides = link.table->rows_functional;
  const bool b_decides = link.table->cols_functional;
  if (!a_decides && !b_decides) return false;
  const bool fold_b = a_decides && (!b_decides || graph.vertex(link.b).degree <= graph.vertex(link.a).degree);
  if (fold_b) {
    contract(graph, link.b, link.a, l);
  } else {
    contract(graph, link.a, link.b, l);
  }
  return true;
}

}  // namespace alpa::solver
