#include "alpa/solver/problem.h"

#include "alpa/base/error.h"

namespace alpa::solver {
namespace {

constexpr const char* kPlace = "solver";

void check_nodes(const Problem& problem) {
  for (size_t i = 0; i < problem.nodes.size(); ++i) {
    const Node& node = problem.nodes[i];
    require<InvalidArgumentError>(!node.costs.empty(), kPlace, "node {} has no strategy: give it one", i);
    require<InvalidArgumentError>(node.costs.size() == node.usages.size(), kPlace,
                                  "node {} has {} costs and {} usages: give one of each per strategy", i,
                                  node.costs.size(), node.usages.size());
    require<InvalidArgumentError>(node.begin <= node.end, kPlace, "node {} lives in [{}, {}): begin passes end", i,
                                  node.begin, node.end);
    for (size_t s = 0; s < node.costs.size(); ++s) {
      require<InvalidArgumentError>(node.costs[s] >= 0 && node.usages[s] >= 0, kPlace,
                                    "node {} strategy {} has cost {} and usage {}: both must be at least 0", i, s,
                                    node.costs[s], node.usages[s]);
    }
  }
}

void check_tables(const Problem& problem) {
  for (size_t t = 0; t < problem.tables.size(); ++t) {
    const CostTable& table = problem.tables[t];
    require<InvalidArgumentError>(
        table.rows > 0 && table.cols > 0 && table.costs.size() == size_t(table.rows) * size_t(table.cols), kPlace,
        "table {} of {} x {} has {} entries", t, table.rows, table.cols, table.costs.size());
    for (int64_t cost : table.costs) {
      require<InvalidArgumentError>(cost >= 0, kPlace, "table {} has the negative cost {}", t, cost);
    }
  }
}

void check_edges(const Problem& problem) {
  const auto nodes = static_cast<int64_t>(problem.nodes.size());
  for (size_t e = 0; e < problem.edges.size(); ++e) {
    const Edge& edge = problem.edges[e];
    require<InvalidArgumentError>(edge.first >= 0 && edge.first < nodes && edge.second >= 0 && edge.second < nodes,
                                  kPlace, "edge {} joins {} and {} of {} nodes", e, edge.first, edge.second, nodes);
    require<InvalidArgumentError>(edge.first != edge.second, kPlace,
                                  "edge {} joins node {} to itself: put its diagonal into the node's costs", e,
                                  edge.first);
    require<InvalidArgumentError>(edge.table >= 0 && size_t(edge.table) < problem.tables.size(), kPlace,
                                  "edge {} names table {} of {}", e, edge.table, problem.tables.size());
    const CostTable& table = problem.tables[edge.table];
    const size_t rows = problem.nodes[edge.first].costs.size();
    const size_t cols = problem.nodes[edge.second].costs.size();
    require<InvalidArgumentError>(size_t(table.rows) == rows && size_t(table.cols) == cols, kPlace,
                                  "edge {} joins nodes of {} and {} strategies by table {} of {} x {}", e, rows, cols,
                                  edge.table, table.rows, table.cols);
  }
}

}  // namespace

void check(const Problem& problem) {
  require<InvalidArgumentError>(problem.nodes.size() < (size_t(1) << 30), kPlace, "{} nodes are too many",
                                problem.nodes.size());
  require<InvalidArgumentError>(!problem.usage_limit || *problem.usage_limit >= 0, kPlace, "usage limit {} is below 0",
                                problem.usage_limit.value_or(0));
  check_nodes(problem);
  check_tables(problem);
  check_edges(problem);
}

}  // namespace alpa::solver
