#include "alpa/compiler/state_inputs.h"

#include "alpa/hlo/flops.h"

namespace alpa::compiler {

std::vector<char> state_inputs(const Program& program) {
  std::vector<char> result(program.meta.inputs.size(), 0);
  for (const OutputMeta& output : program.meta.outputs) {
    if (output.feeds_input) result[static_cast<size_t>(*output.feeds_input)] = 1;
  }
  return result;
}

std::vector<char> reaching_contractions(const Program& program) {
  const hlo::ValueGraph& graph = program.graph;
  std::vector<char> reaches(graph.values.size(), 0);  // Whether a contraction depends on the value.
  bool changed = true;
  while (changed) {  // Loops lead back.
    changed = false;
    for (size_t id = graph.nodes.size(); id-- > 0;) {
      const hlo::Node& node = graph.nodes[id];
      bool marks = node.kind == hlo::Node::Kind::kOperation &&
                   hlo::is_contraction(program.module.computation(node.computation)[node.instruction].opcode);
      for (const hlo::ValueId value : node.results) marks = marks || reaches[static_cast<size_t>(value)];
      for (size_t k = 0; marks && k < node.operands.size(); ++k) {
        char& operand = reaches[static_cast<size_t>(node.operands[k])];
        changed = changed || !operand;
        operand = 1;
      }
    }
    for (const hlo::Tie& tie : graph.ties) {
      char& from = reaches[static_cast<size_t>(tie.from)];
      changed = changed || (reaches[static_cast<size_t>(tie.to)] && !from);
      from = from || reaches[static_cast<size_t>(tie.to)];
    }
  }
  std::vector<char> result;
  for (const hlo::ValueId value : graph.inputs) result.push_back(reaches[static_cast<size_t>(value)]);
  return result;
}

}  // namespace alpa::compiler
