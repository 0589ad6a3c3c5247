#include "alpa/solver/graph.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "alpa/base/error.h"

namespace alpa::solver {
namespace {

/// Sum of the largest finite entries of all nodes and edges: no finite objective passes it.
Cost largest_objective(const Problem& problem) {
  std::vector<int64_t> largest(problem.tables.size(), 0);
  for (size_t t = 0; t < problem.tables.size(); ++t) {
    for (int64_t cost : problem.tables[t].costs) {
      if (cost < kForbidden) largest[t] = std::max(largest[t], cost);
    }
  }
  Cost sum = 0;
  for (const Edge& edge : problem.edges) sum += largest[edge.table];
  for (const Node& node : problem.nodes) {
    int64_t most = 0;
    for (int64_t cost : node.costs) {
      if (cost < kForbidden) most = std::max(most, cost);
    }
    sum += most;
  }
  return sum;
}

int64_t scaled(int64_t cost, int shift) { return cost >= kForbidden ? kInfinite : cost >> shift; }

TablePtr sum_of(const Table& first, const Table& second, bool transposed) {
  std::vector<int64_t> costs(first.costs.size());
  for (int32_t r = 0; r < first.rows; ++r) {
    for (int32_t c = 0; c < first.cols; ++c) {
      costs[size_t(r) * first.cols + c] = add_costs(first.at(r, c), transposed ? second.at(c, r) : second.at(r, c));
    }
  }
  return std::make_shared<Table>(first.rows, first.cols, std::move(costs));
}

bool varies(const std::vector<int64_t>& usages) {
  return std::any_of(usages.begin(), usages.end(), [&](int64_t usage) { return usage != usages[0]; });
}

}  // namespace

Graph::Graph(const Problem& problem, bool with_memory) {
  for (Cost most = largest_objective(problem); most >= kInfinite / 8; most >>= 1) ++shift_;
  std::vector<TablePtr> tables;
  tables.reserve(problem.tables.size());
  for (const CostTable& table : problem.tables) {
    std::vector<int64_t> costs(table.costs.size());
    std::transform(table.costs.begin(), table.costs.end(), costs.begin(),
                   [&](int64_t cost) { return scaled(cost, shift_); });
    tables.push_back(std::make_shared<Table>(table.rows, table.cols, std::move(costs)));
  }
  vertices_.resize(problem.nodes.size());
  for (size_t i = 0; i < problem.nodes.size(); ++i) {
    const Node& node = problem.nodes[i];
    Vertex& vertex = vertices_[i];
    vertex.original_size = static_cast<int32_t>(node.costs.size());
    vertex.uses_memory = with_memory && node.begin < node.end && varies(node.usages);
    for (int32_t s = 0; s < vertex.original_size; ++s) {
      vertex.label.push_back(s);
      vertex.cost.push_back(scaled(node.costs[s], shift_));
    }
  }
  for (const Edge& edge : problem.edges) add_link(edge.first, edge.second, tables[edge.table]);
  for (int32_t v = 0; v < size(); ++v) {
    const auto& cost = vertices_[v].cost;
    if (std::none_of(cost.begin(), cost.end(), is_infinite)) continue;
    std::vector<char> keep(cost.size());
    for (size_t s = 0; s < cost.size(); ++s) keep[s] = !is_infinite(cost[s]);
    restrict_to(v, keep);
  }
}

Graph::Graph(const std::vector<std::vector<int64_t>>& costs) {
  vertices_.resize(costs.size());
  for (size_t i = 0; i < costs.size(); ++i) {
    vertices_[i].cost = costs[i];
    vertices_[i].original_size = static_cast<int32_t>(costs[i].size());
    vertices_[i].label.resize(costs[i].size());
    std::iota(vertices_[i].label.begin(), vertices_[i].label.end(), 0);
  }
}

const std::vector<int32_t>& Graph::links_of(int32_t v) {
  Vertex& vertex = vertices_[v];
  if (vertex.links.size() != size_t(vertex.degree)) {
    std::erase_if(vertex.links, [&](int32_t l) { return !links_[l].alive; });
  }
  return vertex.links;
}

int32_t Graph::find_link(int32_t u, int32_t v) {
  if (vertices_[u].degree > vertices_[v].degree) std::swap(u, v);
  for (int32_t l : vertices_[u].links) {
    if (links_[l].alive && other(l, u) == v) return l;
  }
  return -1;
}

int32_t Graph::add_link(int32_t a, int32_t b, TablePtr table) {
  ALPA_CHECK(table->rows == domain(a) && table->cols == domain(b));
  const int32_t existing = find_link(a, b);
  if (existing >= 0) {
    Link& link = links_[existing];
    link.table = sum_of(*link.table, *table, link.a != a);
    touch(existing);
    return existing;
  }
  const auto l = static_cast<int32_t>(links_.size());
  links_.push_back({a, b, std::move(table), true});
  attach(l);
  touch(l);
  return l;
}

void Graph::set_table(int32_t l, TablePtr table) {
  links_[l].table = std::move(table);
  touch(l);
}

void Graph::touch(int32_t l) {
  touched_.push_back(l);
  vertices_[links_[l].a].dirty = vertices_[links_[l].b].dirty = true;
}

void Graph::attach(int32_t l) {
  for (int32_t v : {links_[l].a, links_[l].b}) {
    vertices_[v].links.push_back(l);
    ++vertices_[v].degree;
  }
}

void Graph::remove_link(int32_t l) {
  Link& link = links_[l];
  if (!link.alive) return;
  link.alive = false;
  link.table.reset();
  for (int32_t v : {link.a, link.b}) {
    Vertex& vertex = vertices_[v];
    --vertex.degree;
    vertex.dirty = true;
    if (vertex.links.size() > size_t(2 * vertex.degree + 8)) links_of(v);
  }
}

void Graph::restrict_to(int32_t v, std::span<const char> keep) {
  Vertex& vertex = vertices_[v];
  std::vector<int32_t> kept;
  for (int32_t s = 0; s < domain(v); ++s) {
    if (keep[s]) kept.push_back(s);
  }
  if (kept.size() == vertex.cost.size()) return;
  if (kept.empty()) {
    infeasible_ = true;
    return;
  }
  std::vector<std::pair<TablePtr, TablePtr>> done[2];  // Old and new table, by whether v has the rows.
  for (int32_t l : links_of(v)) {
    Link& link = links_[l];
    const bool rows = link.a == v;
    auto& memo = done[rows];
    auto found = std::find_if(memo.begin(), memo.end(), [&](const auto& pair) { return pair.first == link.table; });
    if (found == memo.end()) {
      const Table& old = *link.table;
      const auto row_count = rows ? static_cast<int32_t>(kept.size()) : old.rows;
      const auto col_count = rows ? old.cols : static_cast<int32_t>(kept.size());
      std::vector<int64_t> costs;
      costs.reserve(size_t(row_count) * size_t(col_count));
      for (int32_t r = 0; r < row_count; ++r) {
        for (int32_t c = 0; c < col_count; ++c) costs.push_back(rows ? old.at(kept[r], c) : old.at(r, kept[c]));
      }
      if (memo.size() >= 16) memo.clear();
      memo.emplace_back(link.table, std::make_shared<Table>(row_count, col_count, std::move(costs)));
      found = memo.end() - 1;
    }
    link.table = found->second;
    touch(l);
  }
  for (size_t k = 0; k < kept.size(); ++k) {
    vertex.label[k] = vertex.label[kept[k]];
    vertex.cost[k] = vertex.cost[kept[k]];
  }
  vertex.label.resize(kept.size());
  vertex.cost.resize(kept.size());
}

void Graph::retire(int32_t v, Record record) {
  ALPA_CHECK(vertices_[v].degree == 0 && vertices_[v].alive);
  vertices_[v].alive = false;
  record.vertex = v;
  records_.push_back(std::move(record));
}

std::vector<int32_t> Graph::take_touched() { return std::exchange(touched_, {}); }

void Graph::extend(std::vector<int32_t>& choice) const {
  for (auto record = records_.rbegin(); record != records_.rend(); ++record) {
    size_t index = 0;
    for (int32_t parent : record->parents) index = index * vertices_[parent].original_size + choice[parent];
    choice[record->vertex] = record->choice[index];
    ALPA_CHECK(choice[record->vertex] >= 0);
  }
}

}  // namespace alpa::solver
