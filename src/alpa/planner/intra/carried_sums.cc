#include "alpa/planner/intra/carried_sums.h"

#include <algorithm>
#include <optional>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/zero_value.h"

namespace alpa::planner {
namespace {

using hlo::Instruction;
using hlo::Node;
using hlo::NodeId;
using hlo::Opcode;
using hlo::Tie;
using hlo::ValueId;

class Finder {
 public:
  Finder(const hlo::Module& module, const hlo::ValueGraph& graph) : module_(module), graph_(graph) {
    uses_.resize(graph.values.size());
    init_.resize(graph.values.size());
    back_.resize(graph.values.size());
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
      for (const ValueId operand : node(id).operands) uses_[at(operand)].push_back({node(id).computation, id});
    }
    for (const Tie& tie : graph.ties) {
      uses_[at(tie.from)].push_back({tie.computation, -1});
      const Node& to = node(producer(tie.to));
      if (to.kind == Node::Kind::kCarry) (tie.computation == to.computation ? init_ : back_)[at(tie.to)] = &tie;
    }
    for (const ValueId output : graph.outputs) uses_[at(output)].push_back({module.entry, -1});
  }

  std::vector<CarriedSum> run() {
    find_same_everywhere();
    std::vector<CarriedSum> sums;
    for (const Node& one : graph_.nodes) {
      if (one.kind != Node::Kind::kCarry) continue;
      if (const auto sum = sum_of(one.results.at(0))) sums.push_back(*sum);
    }
    return sums;
  }

 private:
  struct Use {
    hlo::ComputationId computation;
    NodeId user;  ///< -1: a tie or an output.
  };

  static size_t at(int32_t id) { return static_cast<size_t>(id); }
  const Node& node(NodeId id) const { return graph_.nodes[at(id)]; }
  NodeId producer(ValueId value) const { return graph_.values[at(value)].producer; }
  const tensor::Shape& shape(ValueId value) const { return graph_.values[at(value)].shape; }
  const Instruction& instruction(const Node& one) const {
    return module_.computation(one.computation)[one.instruction];
  }
  const Instruction* operation(ValueId value) const {
    const Node& one = node(producer(value));
    return one.kind == Node::Kind::kOperation && one.results.size() == 1 ? &instruction(one) : nullptr;
  }
  bool is_constant(ValueId value) const {
    const Instruction* one = operation(value);
    return one != nullptr && one->opcode == Opcode::kConstant;
  }

  std::optional<CarriedSum> sum_of(ValueId carry) const {
    const Node& loop = node(producer(carry));
    if (init_[at(carry)] == nullptr || back_[at(carry)] == nullptr) return std::nullopt;
    const ValueId next = back_[at(carry)]->from;
    CarriedSum sum{carry, producer(next), 0, 0, 0, -1, loop.computation, loop.executions};
    const Instruction* update = operation(next);
    if (update == nullptr || uses_[at(next)].size() != 1 || !is_read_by(carry, sum.update)) return std::nullopt;
    const std::vector<ValueId>& operands = node(sum.update).operands;
    if (update->opcode == Opcode::kAdd) {
      sum.carried = operands[0] == carry ? 0 : 1;
      sum.addend = 1 - sum.carried;
      return sum;
    }
    if (update->opcode != Opcode::kDynamicUpdateSlice || operands[0] != carry || !writes_row(operands) ||
        !is_zero(init_[at(carry)]->from))
      return std::nullopt;
    sum.addend = 1;
    sum.rows = shape(carry).dims[0];
    sum.row = operands[2];
    return sum;
  }

  // By the update alone inside the loop, and by something outside.
  bool is_read_by(ValueId carry, NodeId update) const {
    const hlo::ComputationId caller = node(producer(carry)).computation;
    int64_t inside = 0, by_update = 0;
    for (const Use& use : uses_[at(carry)]) {
      inside += use.computation != caller;
      by_update += use.user == update;
    }
    return inside == 1 && by_update == 1 && uses_[at(carry)].size() > 1;
  }

  bool writes_row(const std::vector<ValueId>& operands) const {
    if (operands.size() < 3 || !same_everywhere_[at(operands[2])]) return false;
    std::vector<int64_t> row = shape(operands[0]).dims;
    row[0] = 1;
    return shape(operands[1]).dims == row;
  }

  bool is_zero(ValueId value) const {
    const Instruction* one = operation(value);
    if (one != nullptr && one->opcode == Opcode::kBroadcast) one = operation(node(producer(value)).operands[0]);
    return one != nullptr && hlo::is_zero_scalar(*one);
  }

  void find_same_everywhere() {
    same_everywhere_.assign(graph_.values.size(), false);
    for (const Node& one : graph_.nodes) {
      if (one.results.size() != 1) continue;
      const ValueId value = one.results[0];
      bool same = is_constant(value) || is_counter(value);
      if (!same && one.kind == Node::Kind::kOperation) {
        const Opcode opcode = instruction(one).opcode;
        const bool moves = hlo::is_elementwise(opcode) && opcode != Opcode::kMap && opcode != Opcode::kRng &&
                           opcode != Opcode::kStochasticConvert;
        same = (moves || opcode == Opcode::kReshape || opcode == Opcode::kBroadcast) &&
               std::all_of(one.operands.begin(), one.operands.end(),
                           [&](ValueId operand) { return same_everywhere_[at(operand)] != 0; });
      }
      same_everywhere_[at(value)] = same;
    }
  }

  bool is_counter(ValueId value) const {
    if (node(producer(value)).kind != Node::Kind::kCarry || init_[at(value)] == nullptr || back_[at(value)] == nullptr)
      return false;
    const Instruction* next = operation(back_[at(value)]->from);
    if (!is_constant(init_[at(value)]->from) || next == nullptr ||
        (next->opcode != Opcode::kAdd && next->opcode != Opcode::kSubtract))
      return false;
    const std::vector<ValueId>& operands = node(producer(back_[at(value)]->from)).operands;
    return (operands[0] == value && is_constant(operands[1])) || (is_constant(operands[0]) && operands[1] == value);
  }

  const hlo::Module& module_;
  const hlo::ValueGraph& graph_;
  std::vector<std::vector<Use>> uses_;   ///< By value.
  std::vector<const Tie*> init_, back_;  ///< By carry: from before the loop, and from a turn to the next.
  std::vector<char> same_everywhere_;    ///< By value.
};

}  // namespace

std::vector<CarriedSum> carried_sums(const hlo::Module& module, const hlo::ValueGraph& graph) {
  return Finder(module, graph).run();
}

}  // namespace alpa::planner
