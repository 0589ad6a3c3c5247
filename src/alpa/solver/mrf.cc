#include "alpa/solver/mrf.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace alpa::solver {

namespace {

/// Gives equal tables one address: repeated layers reduce to equal tables, and what is shared stays in the caches.
class TableStore {
 public:
  TablePtr keep(const TablePtr& table, bool turned) {
    const auto [known, fresh] = known_.try_emplace({table.get(), turned});
    if (fresh) known->second = find(turned ? transposed(*table) : table);
    return known->second;
  }

 private:
  static TablePtr transposed(const Table& table) {
    std::vector<int64_t> costs;
    costs.reserve(table.costs.size());
    for (int32_t c = 0; c < table.cols; ++c) {
      for (int32_t r = 0; r < table.rows; ++r) costs.push_back(table.at(r, c));
    }
    return std::make_shared<Table>(table.cols, table.rows, std::move(costs));
  }

  TablePtr find(TablePtr table) {
    uint64_t hash = uint64_t(table->rows);
    for (int64_t cost : table->costs) hash = (hash ^ uint64_t(cost)) * 0x9E3779B97F4A7C15 + (hash >> 29);
    std::vector<TablePtr>& alike = by_hash_[hash];
    for (const TablePtr& other : alike) {
      if (other->rows == table->rows && other->costs == table->costs) return other;
    }
    return alike.emplace_back(std::move(table));
  }

  std::map<std::pair<const Table*, bool>, TablePtr> known_;  // Both looked up only.
  std::unordered_map<uint64_t, std::vector<TablePtr>> by_hash_;
};

}  // namespace

int64_t Mrf::entries() const {
  int64_t sum = 0;
  for (const Edge& edge : edges) sum += static_cast<int64_t>(edge.table->costs.size());
  return sum;
}

Mrf snapshot(Graph& graph) {
  Mrf mrf;
  mrf.constant = graph.constant();
  std::vector<int32_t> node_of(graph.size(), -1);
  for (int32_t v = 0; v < graph.size(); ++v) {
    if (!graph.vertex(v).alive) continue;
    node_of[v] = mrf.size();
    mrf.vertex.push_back(v);
    mrf.unary.push_back(graph.vertex(v).cost);
  }
  mrf.incident.resize(mrf.unary.size());
  TableStore tables;
  for (int32_t l = 0; l < graph.link_count(); ++l) {
    const Graph::Link& link = graph.link(l);
    if (!link.alive) continue;
    const int32_t a = node_of[link.a];
    const int32_t b = node_of[link.b];
    Mrf::Edge edge{std::min(a, b), std::max(a, b), tables.keep(link.table, a > b)};
    const auto index = static_cast<int32_t>(mrf.edges.size());
    mrf.incident[edge.a].push_back(index);
    mrf.incident[edge.b].push_back(index);
    mrf.edges.push_back(std::move(edge));
  }
  return mrf;
}

Mrf restricted(const Mrf& mrf, const std::vector<std::vector<int32_t>>& kept) {
  Mrf result;
  result.vertex = mrf.vertex;
  result.incident = mrf.incident;
  result.constant = mrf.constant;
  for (int32_t i = 0; i < mrf.size(); ++i) {
    result.unary.emplace_back();
    for (int32_t s : kept[i]) result.unary[i].push_back(mrf.unary[i][s]);
  }
  std::map<std::tuple<const Table*, std::vector<int32_t>, std::vector<int32_t>>, TablePtr> known;  // Looked up only.
  for (const Mrf::Edge& edge : mrf.edges) {
    const std::vector<int32_t>& rows = kept[edge.a];
    const std::vector<int32_t>& cols = kept[edge.b];
    TablePtr table = edge.table;
    if (rows.size() != size_t(table->rows) || cols.size() != size_t(table->cols)) {
      TablePtr& part = known[{table.get(), rows, cols}];
      if (part == nullptr) {
        std::vector<int64_t> costs;
        costs.reserve(rows.size() * cols.size());
        for (int32_t r : rows) {
          for (int32_t c : cols) costs.push_back(table->at(r, c));
        }
        part = std::make_shared<Table>(static_cast<int32_t>(rows.size()), static_cast<int32_t>(cols.size()),
                                       std::move(costs));
      }
      table = part;
    }
    result.edges.push_back({edge.a, edge.b, std::move(table)});
  }
  return result;
}

MrfCost cost_of(const Mrf& mrf, const std::vector<int32_t>& labels) {
  MrfCost result;
  result.cost = mrf.constant;
  const auto add = [&](int64_t cost) {
    if (is_infinite(cost)) {
      ++result.forbidden;
    } else {
      result.cost += cost;
    }
  };
  for (int32_t i = 0; i < mrf.size(); ++i) add(mrf.unary[i][labels[i]]);
  for (const Mrf::Edge& edge : mrf.edges) add(edge.table->at(labels[edge.a], labels[edge.b]));
  return result;
}

std::vector<std::vector<int32_t>> components_of(const Mrf& mrf) {
  std::vector<std::vector<int32_t>> result;
  std::vector<char> seen(mrf.size(), 0);
  for (int32_t root = 0; root < mrf.size(); ++root) {
    if (seen[root]) continue;
    std::vector<int32_t> members = {root};
    seen[root] = 1;
    for (size_t next = 0; next < members.size(); ++next) {
      const int32_t node = members[next];
      for (int32_t e : mrf.incident[node]) {
        const int32_t neighbour = mrf.other(e, node);
        if (seen[neighbour]) continue;
        seen[neighbour] = 1;
        members.push_back(neighbour);
      }
    }
    std::sort(members.begin(), members.end());
    result.push_back(std::move(members));
  }
  return result;
}

std::vector<int32_t> expand(const Graph& graph, const Mrf& mrf, const std::vector<int32_t>& labels) {
  std::vector<int32_t> choice(graph.size(), -1);
  for (int32_t i = 0; i < mrf.size(); ++i) choice[mrf.vertex[i]] = graph.vertex(mrf.vertex[i]).label[labels[i]];
  graph.extend(choice);
  return choice;
}

}  // namespace alpa::solver
