#include "alpa/planner/intra/memory.h"

#include <algorithm>

namespace alpa::planner {
namespace {

using hlo::Node;
using hlo::Opcode;

struct Uses {
  int64_t count = 0;
  hlo::NodeId last = -1;
};

Opcode opcode_of(const hlo::Module& module, const Node& node) {
  return module.computation(node.computation)[node.instruction].opcode;
}

bool is_cheap(const hlo::Module& module, const Node& node) {
  if (node.kind != Node::Kind::kOperation) return false;
  const Opcode opcode = opcode_of(module, node);
  return hlo::is_elementwise(opcode) || opcode == Opcode::kBroadcast || opcode == Opcode::kReshape ||
         opcode == Opcode::kIota || opcode == Opcode::kBitcastConvert;
}

bool absorbs(const hlo::Module& module, const Node& node) {
  return is_cheap(module, node) || (node.kind == Node::Kind::kOperation && opcode_of(module, node) == Opcode::kReduce);
}

}  // namespace

std::vector<Lifetime> lifetimes(const hlo::Module& module, const hlo::ValueGraph& graph,
                                const std::vector<Feed>& feeds) {
  const auto count = static_cast<int64_t>(graph.nodes.size());
  std::vector<Uses> uses(graph.nodes.size());
  const auto use = [&](hlo::ValueId value, hlo::NodeId user) {
    Uses& entry = uses[static_cast<size_t>(graph.values[static_cast<size_t>(value)].producer)];
    ++entry.count;
    entry.last = std::max(entry.last, user);
  };
  for (hlo::NodeId id = 0; id < count; ++id) {
    for (const hlo::ValueId operand : graph.nodes[static_cast<size_t>(id)].operands) use(operand, id);
  }

  std::vector<Lifetime> result(graph.nodes.size());
  std::vector<int64_t> done(graph.nodes.size());  // when the node's result exists, or what it is fused into does
  for (hlo::NodeId id = static_cast<hlo::NodeId>(count) - 1; id >= 0; --id) {
    const auto at = static_cast<size_t>(id);
    const Node& node = graph.nodes[at];
    const bool one_user = uses[at].count == 1 && absorbs(module, graph.nodes[static_cast<size_t>(uses[at].last)]);
    const bool fused = is_cheap(module, node) && (one_user || opcode_of(module, node) == Opcode::kBroadcast ||
                                                  opcode_of(module, node) == Opcode::kIota);
    done[at] = fused && uses[at].last >= 0 ? done[static_cast<size_t>(uses[at].last)] : id;
    result[at] = {id, id + 1, !fused};
  }
  const auto extend = [&](hlo::ValueId value, int64_t until) {
    Lifetime& life = result[static_cast<size_t>(graph.values[static_cast<size_t>(value)].producer)];
    life.end = std::max(life.end, until + 1);
  };
  for (hlo::NodeId id = 0; id < count; ++id) {
    for (const hlo::ValueId operand : graph.nodes[static_cast<size_t>(id)].operands)
      extend(operand, done[static_cast<size_t>(id)]);
  }
  for (const hlo::Tie& tie : graph.ties) extend(tie.from, graph.values[static_cast<size_t>(tie.to)].producer);
  std::vector<bool> donated(graph.inputs.size());
  for (const Feed& feed : feeds) donated[static_cast<size_t>(feed.input)] = true;
  for (size_t input = 0; input < graph.inputs.size(); ++input) {
    result[static_cast<size_t>(graph.values[static_cast<size_t>(graph.inputs[input])].producer)].begin = 0;
    if (!donated[input]) extend(graph.inputs[input], count - 1);
  }
  for (const hlo::ValueId output : graph.outputs) {
    extend(output, count - 1);
    result[static_cast<size_t>(graph.values[static_cast<size_t>(output)].producer)].occupies = true;
  }
  return result;
}

}  // namespace alpa::planner
