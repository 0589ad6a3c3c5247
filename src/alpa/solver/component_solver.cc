#include "alpa/solver/component_solver.h"

#include <algorithm>
#include <vector>

namespace alpa::solver {
namespace {

PairwiseProblem extract(const Mrf& mrf, const std::vector<int32_t>& nodes, std::vector<int32_t>& index) {
  PairwiseProblem problem;
  for (size_t i = 0; i < nodes.size(); ++i) {
    index[nodes[i]] = static_cast<int32_t>(i);
    problem.unary.push_back(mrf.unary[nodes[i]]);
  }
  for (int32_t node : nodes) {
    for (int32_t e : mrf.incident[node]) {
      const Mrf::Edge& edge = mrf.edges[e];
      if (edge.a == node) problem.pairs.push_back({index[edge.a], index[edge.b], edge.table->costs});
    }
  }
  return problem;
}

void fix(Graph& graph, int32_t vertex, int32_t label) {
  std::vector<char> keep(graph.domain(vertex), 0);
  keep[label] = 1;
  graph.restrict_to(vertex, keep);
}

}  // namespace

PairwiseProblem pairwise_problem(const Mrf& mrf) {
  PairwiseProblem problem;
  problem.unary = mrf.unary;
  problem.pairs.reserve(mrf.edges.size());
  for (const Mrf::Edge& edge : mrf.edges) problem.pairs.push_back({edge.a, edge.b, edge.table->costs});
  return problem;
}

int64_t solve_components(Graph& graph, const Mrf& mrf, const EliminationBudget& budget, int threads) {
  int64_t solved = 0;
  std::vector<int32_t> index(mrf.size(), -1);
  for (const std::vector<int32_t>& nodes : components_of(mrf)) {
    if (std::any_of(nodes.begin(), nodes.end(), [&](int32_t i) { return graph.vertex(mrf.vertex[i]).uses_memory; })) {
      continue;
    }
    const PairwiseProblem problem = extract(mrf, nodes, index);
    const auto plan = plan_elimination(problem, budget, false);
    if (!plan) continue;
    const EliminationResult result = run_elimination(problem, *plan, threads);
    if (is_infinite(result.cost)) {
      graph.set_infeasible();
      return solved;
    }
    for (size_t i = 0; i < nodes.size(); ++i) fix(graph, mrf.vertex[nodes[i]], result.labels[i]);
    ++solved;
  }
  return solved;
}

}  // namespace alpa::solver
