#include "alpa/solver/evaluate.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "alpa/base/error.h"

namespace alpa::solver {
namespace {

void add(int64_t cost, Evaluation& result) {
  result.objective += cost;
  result.forbidden = result.forbidden || cost >= kForbidden;
}

/// Sweeps the starts and ends of all lifetimes in order of time.
void measure_peak(const Problem& problem, std::span<const int32_t> choice, Evaluation& result) {
  std::vector<std::pair<int64_t, Cost>> changes;
  for (size_t i = 0; i < choice.size(); ++i) {
    const Node& node = problem.nodes[i];
    if (node.begin >= node.end) continue;
    changes.emplace_back(node.begin, node.usages[choice[i]]);
    changes.emplace_back(node.end, -Cost(node.usages[choice[i]]));
  }
  std::sort(changes.begin(), changes.end());
  Cost usage = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    usage += changes[i].second;
    const bool last_of_its_time = i + 1 == changes.size() || changes[i + 1].first != changes[i].first;
    if (last_of_its_time && usage > result.peak_usage) {
      result.peak_usage = usage;
      result.worst_time = changes[i].first;
    }
  }
}

}  // namespace

Evaluation evaluate(const Problem& problem, std::span<const int32_t> choice) {
  require<InvalidArgumentError>(choice.size() == problem.nodes.size(), "evaluate",
                                "{} strategies chosen for {} nodes: choose one a node", choice.size(),
                                problem.nodes.size());
  Evaluation result;
  for (size_t i = 0; i < choice.size(); ++i) {
    const size_t strategies = problem.nodes[i].costs.size();
    require<InvalidArgumentError>(choice[i] >= 0 && size_t(choice[i]) < strategies, "evaluate",
                                  "node {} has no strategy {}: it has {}", i, choice[i], strategies);
    add(problem.nodes[i].costs[choice[i]], result);
  }
  for (const Edge& edge : problem.edges) {
    const CostTable& table = problem.tables.at(edge.table);
    add(table.costs.at(size_t(choice[edge.first]) * size_t(table.cols) + size_t(choice[edge.second])), result);
  }
  measure_peak(problem, choice, result);
  result.fits = !problem.usage_limit || result.peak_usage <= *problem.usage_limit;
  return result;
}

}  // namespace alpa::solver
