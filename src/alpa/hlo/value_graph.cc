#include "alpa/hlo/value_graph.h"

#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/trip_count.h"

namespace alpa::hlo {
namespace {

using Leaves = std::vector<ValueId>;

constexpr double kMostExecutions = 1e30;  // Of loops in loops: seconds and bytes of them stay finite.

class Builder {
 public:
  explicit Builder(const Module& module) : module_(module) {
    for (const Computation& computation : module.computations) {
      graph_.leaves.emplace_back(computation.instructions.size());
    }
  }

  ValueGraph run() {
    const Computation& entry = module_.entry_computation();
    const std::vector<InstructionId> params = parameters(entry);
    std::vector<Leaves> arguments;
    for (const InstructionId id : params) {
      require<UnsupportedError>(!entry[id].shape.is_tuple(), "hlo",
                                "parameter {} of the program is a tuple: export it with "
                                "one parameter an array",
                                entry[id].name);
      Node node;
      node.kind = Node::Kind::kInput;
      node.computation = module_.entry;
      node.instruction = id;
      arguments.push_back({add(std::move(node), entry[id].shape)});
      graph_.inputs.push_back(arguments.back()[0]);
    }
    graph_.outputs = visit(module_.entry, arguments, 1);
    return std::move(graph_);
  }

 private:
  ValueId add(Node node, const tensor::Shape& shape) { return add_all(std::move(node), {shape})[0]; }

  Leaves add_all(Node node, const std::vector<tensor::Shape>& shapes) {
    const auto id = static_cast<NodeId>(graph_.nodes.size());
    for (const tensor::Shape& shape : shapes) {
      node.results.push_back(static_cast<ValueId>(graph_.values.size()));
      graph_.values.push_back({shape, id, static_cast<int>(node.results.size()) - 1});
    }
    graph_.nodes.push_back(std::move(node));
    return graph_.nodes.back().results;
  }

  static void flatten(const tensor::Shape& shape, std::vector<tensor::Shape>& result) {
    if (!shape.is_tuple()) {
      result.push_back(shape);
      return;
    }
    for (const tensor::Shape& element : shape.elements) flatten(element, result);
  }

  static std::vector<tensor::Shape> flat(const tensor::Shape& shape) {
    std::vector<tensor::Shape> result;
    flatten(shape, result);
    return result;
  }

  const Leaves& leaves(ComputationId computation, InstructionId id) const {
    return graph_.leaves[static_cast<size_t>(computation)][static_cast<size_t>(id)];
  }

  void set_leaves(ComputationId computation, InstructionId id, Leaves value) {
    graph_.leaves[static_cast<size_t>(computation)][static_cast<size_t>(id)] = std::move(value);
  }

  Leaves operand_leaves(ComputationId computation, const Instruction& instruction) const {
    Leaves result;
    for (const InstructionId operand : instruction.operands) {
      const Leaves& part = leaves(computation, operand);
      result.insert(result.end(), part.begin(), part.end());
    }
    return result;
  }

  Leaves visit(ComputationId computation, const std::vector<Leaves>& arguments, double executions) {
    const Computation& body = module_.computation(computation);
    for (InstructionId id = 0; id < body.size(); ++id) {
      set_leaves(computation, id, visit_instruction(computation, id, arguments, executions));
    }
    return leaves(computation, body.root);
  }

  Leaves visit_instruction(ComputationId computation, InstructionId id, const std::vector<Leaves>& arguments,
                           double executions) {
    const Instruction& instruction = module_.computation(computation)[id];
    reject_unsupported(instruction);
    Node node;
    node.computation = computation;
    node.instruction = id;
    node.executions = executions;
    switch (instruction.opcode) {
      case Opcode::kParameter: return arguments.at(static_cast<size_t>(parameter_number(instruction)));
      case Opcode::kTuple: return operand_leaves(computation, instruction);
      case Opcode::kGetTupleElement: return element(computation, instruction);
      case Opcode::kWhile: return loop(node, instruction);
      case Opcode::kConditional: return conditional(node, instruction);
      case Opcode::kOptimizationBarrier: return barrier(node, instruction);
      default:
        node.operands = operand_leaves(computation, instruction);
        return add_all(std::move(node), flat(instruction.shape));
    }
  }

  // Borders between the program of all devices and that of one (shard_map).
  static bool enters_devices(const Instruction& instruction) {
    if (instruction.opcode != Opcode::kCustomCall) return false;
    const std::string target = custom_call_target(instruction);
    return target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape" ||
           target == "xla.sdy.GlobalToLocalShape" || target == "xla.sdy.LocalToGlobalShape";
  }

  static void reject_unsupported(const Instruction& instruction) {
    require<UnsupportedError>(!is_collective(instruction.opcode) && !enters_devices(instruction), "hlo",
                              "instruction {} ({}): the program is sharded already; give the one for a "
                              "single device",
                              instruction.name, name(instruction.opcode));
    switch (instruction.opcode) {
      case Opcode::kInfeed:
      case Opcode::kOutfeed:
      case Opcode::kSend:
      case Opcode::kSendDone:
      case Opcode::kRecv:
      case Opcode::kRecvDone:
      case Opcode::kPartitionId:
      case Opcode::kReplicaId:
      case Opcode::kCall:
      case Opcode::kFusion:
      case Opcode::kAsyncStart:
      case Opcode::kDomain:
      case Opcode::kDynamicReshape:
      case Opcode::kSetDimensionSize:
        raise<UnsupportedError>("hlo", "instruction {}: {} has no place in a training step for one device",
                                instruction.name, name(instruction.opcode));
      default: break;
    }
  }

  Leaves element(ComputationId computation, const Instruction& instruction) const {
    const Instruction& tuple = module_.computation(computation)[instruction.operands.at(0)];
    const Leaves& all = leaves(computation, instruction.operands.at(0));
    const auto index = static_cast<size_t>(tuple_index(instruction));
    int first = 0;
    for (size_t k = 0; k < index; ++k) first += leaf_count(tuple.shape.elements.at(k));
    return {all.begin() + first, all.begin() + first + leaf_count(tuple.shape.elements.at(index))};
  }

  void tie(const Leaves& from, const Leaves& to, double executions, ComputationId computation) {
    ALPA_CHECK(from.size() == to.size());
    for (size_t k = 0; k < from.size(); ++k) graph_.ties.push_back({from[k], to[k], executions, computation});
  }

  Leaves fresh(Node node, Node::Kind kind, const tensor::Shape& shape) {
    Leaves result;
    node.kind = kind;
    for (const tensor::Shape& leaf : flat(shape)) {
      node.leaf = static_cast<int>(result.size());
      result.push_back(add(node, leaf));
    }
    return result;
  }

  Leaves loop(const Node& node, const Instruction& instruction) {
    const auto trips = trip_count(module_, module_.computation(node.computation), instruction);
    graph_.unknown_trip_counts += !trips.has_value();
    const double executions = std::min(node.executions * static_cast<double>(trips.value_or(1)), kMostExecutions);
    const Leaves carry = fresh(node, Node::Kind::kCarry, instruction.shape);
    tie(operand_leaves(node.computation, instruction), carry, node.executions, node.computation);
    visit(instruction.called.at(1), {carry}, executions);
    tie(visit(instruction.called.at(0), {carry}, executions), carry, executions, instruction.called.at(0));
    return carry;
  }

  Leaves conditional(const Node& node, const Instruction& instruction) {
    std::vector<Leaves> roots;
    for (size_t branch = 0; branch < instruction.called.size(); ++branch) {
      const InstructionId operand = instruction.operands.at(branch + 1);
      Node argument = node;
      argument.branch = static_cast<int>(branch);
      const Leaves inside = fresh(argument, Node::Kind::kBranch, module_.computation(node.computation)[operand].shape);
      tie(leaves(node.computation, operand), inside, node.executions, node.computation);
      roots.push_back(visit(instruction.called[branch], {inside}, node.executions));
    }
    const Leaves result = fresh(node, Node::Kind::kJoin, instruction.shape);
    for (size_t branch = 0; branch < roots.size(); ++branch) {
      tie(roots[branch], result, node.executions, instruction.called[branch]);
    }
    return result;
  }

  Leaves barrier(const Node& node, const Instruction& instruction) {
    Leaves result;
    for (const ValueId operand : operand_leaves(node.computation, instruction)) {
      Node one = node;
      one.leaf = static_cast<int>(result.size());
      one.operands = {operand};
      result.push_back(add(std::move(one), graph_.values[static_cast<size_t>(operand)].shape));
    }
    return result;
  }

  const Module& module_;
  ValueGraph graph_;
};

}  // namespace

ValueGraph build_value_graph(const Module& module) { return Builder(module).run(); }

bool is_generator(const Module& module, const ValueGraph& graph, NodeId id) {
  const Node& node = graph.nodes[static_cast<size_t>(id)];
  if (node.kind != Node::Kind::kOperation) return false;
  const Instruction& instruction = module.computation(node.computation)[node.instruction];
  if (instruction.opcode == Opcode::kIota) return true;
  return instruction.opcode == Opcode::kBroadcast &&
         graph.values[static_cast<size_t>(node.operands[0])].shape.rank() == 0;
}

int leaf_count(const tensor::Shape& shape) {
  if (!shape.is_tuple()) return 1;
  int count = 0;
  for (const tensor::Shape& element : shape.elements) count += leaf_count(element);
  return count;
}

}  // namespace alpa::hlo
