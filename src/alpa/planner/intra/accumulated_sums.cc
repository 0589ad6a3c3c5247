#include "alpa/planner/intra/accumulated_sums.h"

#include <algorithm>

#include "alpa/hlo/linear_operands.h"

namespace alpa::planner {
namespace {

using hlo::Node;
using hlo::NodeId;
using hlo::ValueId;

class Finder {
 public:
  explicit Finder(const IntraRequest& request) : request_(request), graph_(request.graph) {}

  AccumulatedSums run() {
    const size_t count = graph_.nodes.size();
    result_.feed_of.assign(count, -1);
    result_.linear_operands.resize(count);
    result_.absorbed.assign(count, false);
    find_additions();
    if (!found_) return std::move(result_);
    find_linear();
    find_uses();
    for (auto id = static_cast<NodeId>(count); id-- > 0;) result_.absorbed[static_cast<size_t>(id)] = absorbed(id);
    return std::move(result_);
  }

 private:
  size_t producer(ValueId value) const {
    return static_cast<size_t>(graph_.values[static_cast<size_t>(value)].producer);
  }

  void find_additions() {
    for (size_t k = 0; k < request_.feeds.size(); ++k) {
      const Feed& feed = request_.feeds[k];
      if (!feed.accumulates) continue;
      result_.feed_of[producer(graph_.outputs[static_cast<size_t>(feed.output)])] = static_cast<int>(k);
      found_ = true;
    }
  }

  void find_linear() {
    std::vector<std::vector<bool>> fixed;
    for (const hlo::Computation& computation : request_.module.computations)
      fixed.push_back(hlo::fixed_values(computation));
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      const Node& node = graph_.nodes[id];
      if (node.kind != Node::Kind::kOperation || node.results.size() != 1) continue;
      const auto in = static_cast<size_t>(node.computation);
      result_.linear_operands[id] =
          hlo::linear_operands(request_.module, request_.module.computations[in], node.instruction, fixed[in]);
    }
  }

  // Nodes that use a node's results, and whether anything else does.
  void find_uses() {
    users_.resize(graph_.nodes.size());
    leaves_.assign(graph_.nodes.size(), false);
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      for (const ValueId operand : graph_.nodes[static_cast<size_t>(id)].operands)
        users_[producer(operand)].push_back(id);
    }
    for (const hlo::Tie& tie : graph_.ties) leaves_[producer(tie.from)] = true;
    for (const ValueId output : graph_.outputs) leaves_[producer(output)] = true;
  }

  bool absorbed(NodeId id) const {
    const auto& users = users_[static_cast<size_t>(id)];
    if (leaves_[static_cast<size_t>(id)] || users.empty()) return false;
    return std::all_of(users.begin(), users.end(), [&](NodeId user) {
      const auto at = static_cast<size_t>(user);
      const bool adds = result_.feed_of[at] >= 0;
      if (!adds && !result_.absorbed[at]) return false;
      const std::vector<size_t> sums = adds ? std::vector<size_t>{kAddend} : result_.linear_operands[at];
      const auto& operands = graph_.nodes[at].operands;
      for (size_t k = 0; k < operands.size(); ++k) {
        const bool here = producer(operands[k]) == static_cast<size_t>(id);
        if (here && std::find(sums.begin(), sums.end(), k) == sums.end()) return false;
      }
      return true;
    });
  }

  const IntraRequest& request_;
  const hlo::ValueGraph& graph_;
  bool found_ = false;
  std::vector<std::vector<NodeId>> users_;  ///< By node.
  std::vector<char> leaves_;                ///< By node: whether a result leaves the computation.
  AccumulatedSums result_;
};

}  // namespace

AccumulatedSums accumulated_sums(const IntraRequest& request) { return Finder(request).run(); }

}  // namespace alpa::planner
