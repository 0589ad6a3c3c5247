#include "alpa/planner/intra/accumulated_sums.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "alpa/hlo/linear_operands.h"
#include "alpa/planner/intra/carried_sums.h"

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
    result_.communications.resize(count);
    sinks_.resize(count);
    ways_.resize(count);
    find_additions();
    find_linear();
    find_uses();
    for (const CarriedSum& sum : carried_sums(request_.module, graph_)) loop_sums_.emplace(sum.update, sum);
    for (auto id = static_cast<NodeId>(count); id-- > 0;) visit(id);
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
      const size_t addition = producer(graph_.outputs[static_cast<size_t>(feed.output)]);
      result_.feed_of[addition] = static_cast<int>(k);
      sinks_[addition] = Sink{{1, kStep}, kAddend};
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

  // Of values that go into the same sums, and how often those are communicated a step.
  using Sums = std::tuple<NodeId, int64_t, ValueId>;  ///< Loop, rows and row.
  struct Way {
    double communications = 1;
    Sums sums;
  };
  struct Sink {
    Way way;
    size_t addend = 0;
  };
  static constexpr Sums kStep{-1, 0, -1};  ///< Sums over micro-batches.

  void visit(NodeId id) {
    const auto at = static_cast<size_t>(id);
    if (const auto sum = loop_sums_.find(id); sum != loop_sums_.end()) sinks_[at] = sink_of(sum->second);
    if (!leaves_[at]) ways_[at] = way(id, -1);
    if (ways_[at]) result_.communications[at] = ways_[at]->communications;
  }

  // Rows are communicated one by one unless they can wait for the last micro-batch.
  std::optional<Sink> sink_of(const CarriedSum& sum) const {
    const size_t carry = producer(sum.carry);
    const NodeId loop = first_carry(static_cast<NodeId>(carry));
    const auto outside = leaves_[carry] ? std::nullopt : way(static_cast<NodeId>(carry), sum.update);
    if (sum.rows == 0) return Sink{{outside ? outside->communications : sum.executions, {loop, 0, -1}}, sum.addend};
    if (!outside || outside->sums != kStep) return std::nullopt;
    return Sink{{static_cast<double>(sum.rows) * outside->communications, {loop, sum.rows, sum.row}}, sum.addend};
  }

  // Elements of a loop's tuple are nodes one after another.
  NodeId first_carry(NodeId id) const {
    const Node& last = graph_.nodes[static_cast<size_t>(id)];
    return id - last.leaf;
  }

  // Where all uses but that of `except` lead, if they lead into the same sums.
  std::optional<Way> way(NodeId id, NodeId except) const {
    std::optional<Way> result;
    for (const NodeId user : users_[static_cast<size_t>(id)]) {
      if (user == except) continue;
      const std::optional<Way> next = way_through(user, id);
      if (!next || (result && result->sums != next->sums)) return std::nullopt;
      if (!result || result->communications < next->communications) result = next;
    }
    return result;
  }

  std::optional<Way> way_through(NodeId user, NodeId from) const {
    const auto at = static_cast<size_t>(user);
    const std::vector<size_t> sums = sinks_[at] ? std::vector<size_t>{sinks_[at]->addend} : result_.linear_operands[at];
    const auto& operands = graph_.nodes[at].operands;
    for (size_t k = 0; k < operands.size(); ++k) {
      const bool here = producer(operands[k]) == static_cast<size_t>(from);
      if (here && std::find(sums.begin(), sums.end(), k) == sums.end()) return std::nullopt;
    }
    return sinks_[at] ? sinks_[at]->way : ways_[at];
  }

  const IntraRequest& request_;
  const hlo::ValueGraph& graph_;
  std::vector<std::vector<NodeId>> users_;  ///< By node.
  std::vector<char> leaves_;                ///< By node: whether a result leaves the computation.
  std::map<NodeId, CarriedSum> loop_sums_;  ///< By update.
  std::vector<std::optional<Sink>> sinks_;  ///< By node that adds to a sum.
  std::vector<std::optional<Way>> ways_;    ///< By node whose result goes into sums alone.
  AccumulatedSums result_;
};

}  // namespace

AccumulatedSums accumulated_sums(const IntraRequest& request) { return Finder(request).run(); }

}  // namespace alpa::planner
