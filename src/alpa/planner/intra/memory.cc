#include "alpa/planner/intra/memory.h"

#include <algorithm>

#include "alpa/hlo/attributes.h"

namespace alpa::planner {
namespace {

using hlo::Node;
using hlo::Opcode;

struct Uses {
  int64_t count = 0;      ///< Operands.
  hlo::NodeId last = -1;  ///< The last node with such an operand.
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

// Operations that XLA lets write their result over an operand.
bool works_in_place(const hlo::Module& module, const Node& node) {
  if (node.kind != Node::Kind::kOperation) return false;
  const Opcode opcode = opcode_of(module, node);
  return hlo::is_elementwise(opcode) || opcode == Opcode::kDynamicUpdateSlice || opcode == Opcode::kScatter;
}

class LifetimeFinder {
 public:
  LifetimeFinder(const hlo::Module& module, const hlo::ValueGraph& graph)
      : module_(module), graph_(graph), lives_(graph.nodes.size()) {}

  std::vector<Lifetime> run() {
    find_uses();
    fuse();
    for (hlo::NodeId id = 0; id < count(); ++id) {
      for (const hlo::ValueId operand : graph_.nodes[static_cast<size_t>(id)].operands)
        extend(operand, done_[static_cast<size_t>(id)]);
    }
    pass_barriers();
    find_ends();
    for (const hlo::Tie& tie : graph_.ties) cross(tie);
    keep_inputs_and_outputs();
    return std::move(lives_);
  }

 private:
  hlo::NodeId count() const { return static_cast<hlo::NodeId>(graph_.nodes.size()); }
  size_t producer(hlo::ValueId value) const {
    return static_cast<size_t>(graph_.values[static_cast<size_t>(value)].producer);
  }

  void find_uses() {
    uses_.resize(graph_.nodes.size());
    for (hlo::NodeId id = 0; id < count(); ++id) {
      for (const hlo::ValueId operand : graph_.nodes[static_cast<size_t>(id)].operands) {
        Uses& entry = uses_[producer(operand)];
        ++entry.count;
        entry.last = std::max(entry.last, id);
      }
    }
  }

  void fuse() {
    done_.resize(graph_.nodes.size());
    for (hlo::NodeId id = count() - 1; id >= 0; --id) {
      const auto at = static_cast<size_t>(id);
      const Node& node = graph_.nodes[at];
      const Uses& uses = uses_[at];
      const bool one_user = uses.count == 1 && absorbs(module_, graph_.nodes[static_cast<size_t>(uses.last)]);
      const bool fused = is_cheap(module_, node) && (one_user || opcode_of(module_, node) == Opcode::kBroadcast ||
                                                     opcode_of(module_, node) == Opcode::kIota);
      done_[at] = fused && uses.last >= 0 ? done_[static_cast<size_t>(uses.last)] : id;
      lives_[at] = {id, id + 1, !fused};
    }
  }

  void extend(hlo::ValueId value, int64_t until) {
    Lifetime& life = lives_[producer(value)];
    life.end = std::max(life.end, until + 1);
  }

  // What a barrier gives is what it got.
  void pass_barriers() {
    for (hlo::NodeId id = count() - 1; id >= 0; --id) {
      const Node& node = graph_.nodes[static_cast<size_t>(id)];
      if (node.kind != Node::Kind::kOperation || opcode_of(module_, node) != Opcode::kOptimizationBarrier) continue;
      lives_[static_cast<size_t>(id)].occupies = false;
      extend(node.operands[0], lives_[static_cast<size_t>(id)].end - 1);
    }
  }

  // The last node of each computation, those of its own loops and branches among them; callees come before callers.
  void find_ends() {
    ends_.assign(module_.computations.size(), -1);
    for (hlo::NodeId id = 0; id < count(); ++id) {
      auto& end = ends_[static_cast<size_t>(graph_.nodes[static_cast<size_t>(id)].computation)];
      end = std::max<int64_t>(end, id);
    }
    for (size_t id = 0; id < module_.computations.size(); ++id) {
      for (const hlo::Instruction& one : module_.computations[id].instructions) {
        if (one.opcode != Opcode::kWhile && one.opcode != Opcode::kConditional) continue;
        for (const hlo::ComputationId callee : one.called)
          ends_[id] = std::max(ends_[id], ends_[static_cast<size_t>(callee)]);
      }
    }
  }

  void cross(const hlo::Tie& tie) {
    const auto to = static_cast<hlo::NodeId>(producer(tie.to));
    const Node& node = graph_.nodes[static_cast<size_t>(to)];
    const bool next = node.kind == Node::Kind::kCarry && tie.computation != node.computation;
    if (!next) return extend(tie.from, to);
    const int64_t end = end_of_loop(node);
    extend(tie.from, end);
    extend(tie.to, end);
    const size_t from = producer(tie.from);
    if (graph_.nodes[from].kind == Node::Kind::kOperation)
      lives_[from].occupies = !takes_memory_of(static_cast<hlo::NodeId>(from), tie.to, end);
  }

  int64_t end_of_loop(const Node& carry) const {
    int64_t end = -1;
    for (const hlo::ComputationId callee : module_.computation(carry.computation)[carry.instruction].called)
      end = std::max(end, ends_[static_cast<size_t>(callee)]);
    return end;
  }

  // True if a loop's next value is made when the loop is done with the one before.
  bool takes_memory_of(hlo::NodeId made, hlo::ValueId carried, int64_t end_of_loop) const {
    int64_t last_use = -1;
    const auto use = [&](hlo::NodeId user) {
      if (user <= end_of_loop) last_use = std::max(last_use, done_[static_cast<size_t>(user)]);
    };
    for (hlo::NodeId id = graph_.values[static_cast<size_t>(carried)].producer + 1; id <= end_of_loop; ++id) {
      for (const hlo::ValueId operand : graph_.nodes[static_cast<size_t>(id)].operands) {
        if (operand == carried) use(id);
      }
    }
    for (const hlo::Tie& tie : graph_.ties) {
      const auto to = static_cast<hlo::NodeId>(producer(tie.to));
      if (tie.from == carried && to > static_cast<hlo::NodeId>(producer(carried))) use(to);
    }
    return last_use < made || (last_use == made && works_in_place(module_, graph_.nodes[static_cast<size_t>(made)]));
  }

  void keep_inputs_and_outputs() {
    const int64_t end = count() - 1;
    std::vector<bool> donated(graph_.inputs.size());
    for (const hlo::Alias& alias : hlo::input_output_aliases(module_)) {
      const auto parameter = static_cast<size_t>(alias.parameter);
      if (parameter < donated.size()) donated[parameter] = true;
    }
    for (size_t input = 0; input < graph_.inputs.size(); ++input) {
      lives_[producer(graph_.inputs[input])].begin = 0;
      if (!donated[input]) extend(graph_.inputs[input], end);
    }
    for (const hlo::ValueId output : graph_.outputs) {
      extend(output, end);
      lives_[producer(output)].occupies = true;
    }
  }

  const hlo::Module& module_;
  const hlo::ValueGraph& graph_;
  std::vector<Lifetime> lives_;
  std::vector<Uses> uses_;
  std::vector<int64_t> done_;  ///< When the node's result exists, or what it is fused into does.
  std::vector<int64_t> ends_;  ///< By computation.
};

}  // namespace

std::vector<Lifetime> lifetimes(const hlo::Module& module, const hlo::ValueGraph& graph) {
  return LifetimeFinder(module, graph).run();
}

}  // namespace alpa::planner
