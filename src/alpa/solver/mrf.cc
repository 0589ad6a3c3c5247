#include "alpa/solver/mrf.h"

#include <algorithm>

namespace alpa::solver {

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
  for (int32_t l = 0; l < graph.link_count(); ++l) {
    const Graph::Link& link = graph.link(l);
    if (!link.alive) continue;
    Mrf::Edge edge{node_of[link.a], node_of[link.b], link.table};
    if (edge.a > edge.b) {
      std::vector<int64_t> costs;
      costs.reserve(link.table->costs.size());
      for (int32_t c = 0; c < link.table->cols; ++c) {
        for (int32_t r = 0; r < link.table->rows; ++r) costs.push_back(link.table->at(r, c));
      }
      edge = {edge.b, edge.a, std::make_shared<Table>(link.table->cols, link.table->rows, std::move(costs))};
    }
    const auto index = static_cast<int32_t>(mrf.edges.size());
    mrf.incident[edge.a].push_back(index);
    mrf.incident[edge.b].push_back(index);
    mrf.edges.push_back(std::move(edge));
  }
  return mrf;
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
