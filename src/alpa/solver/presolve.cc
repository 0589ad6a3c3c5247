#include "alpa/solver/presolve.h"

#include <algorithm>
#include <vector>

#include "alpa/solver/contraction.h"
#include "alpa/solver/dominance.h"
#include "alpa/solver/low_degree.h"

namespace alpa::solver {
namespace {

void drop_unsupported(Graph& graph, int32_t v, int32_t l) {
  const TableView view = graph.view(l, v);
  std::vector<char> keep(view.own(), 0);
  for (int32_t s = 0; s < view.own(); ++s) {
    for (int32_t t = 0; t < view.other() && !keep[s]; ++t) keep[s] = !is_infinite(view.at(s, t));
  }
  graph.restrict_to(v, keep);
}

void separate(Graph& graph, int32_t l) {
  const TablePtr table = graph.link(l).table;
  Graph::Vertex& a = graph.vertex(graph.link(l).a);
  Graph::Vertex& b = graph.vertex(graph.link(l).b);
  for (int32_t r = 0; r < table->rows; ++r) a.cost[r] += table->at(r, 0);
  for (int32_t c = 0; c < table->cols; ++c) b.cost[c] += table->at(0, c) - table->at(0, 0);
  graph.remove_link(l);
}

/// Minimising a vertex out may leave its neighbour strategies that no choice supports.
void drop_infinite(Graph& graph) {
  for (int32_t v = 0; v < graph.size(); ++v) {
    const std::vector<int64_t>& cost = graph.vertex(v).cost;
    if (!graph.vertex(v).alive || std::none_of(cost.begin(), cost.end(), is_infinite)) continue;
    std::vector<char> keep(cost.size());
    for (size_t s = 0; s < cost.size(); ++s) keep[s] = !is_infinite(cost[s]);
    graph.restrict_to(v, keep);
  }
}

void visit(Graph& graph, int32_t l) {
  const Graph::Link link = graph.link(l);
  if (!link.table->rows_supported) return drop_unsupported(graph, link.a, l);
  if (!link.table->cols_supported) return drop_unsupported(graph, link.b, l);
  if (link.table->separable) return separate(graph, l);
  contract_if_functional(graph, l);
}

}  // namespace

void propagate(Graph& graph) {
  drop_infinite(graph);
  for (auto links = graph.take_touched(); !links.empty(); links = graph.take_touched()) {
    for (int32_t l : links) {
      if (graph.infeasible()) return;
      if (graph.link(l).alive) visit(graph, l);
    }
  }
}

void presolve(Graph& graph) {
  propagate(graph);
  for (bool again = true; again && !graph.infeasible();) {
    again = drop_dominated(graph);
    propagate(graph);
    if (graph.infeasible()) return;
    again = eliminate_low_degree(graph) || again;
    propagate(graph);
  }
}

}  // namespace alpa::solver
