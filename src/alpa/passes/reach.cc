#include "alpa/passes/reach.h"

#include "alpa/hlo/attributes.h"

namespace alpa::passes {

using hlo::InstructionId;

Reach::Reach(const hlo::Computation& computation) : computation_(computation) {
  for (InstructionId id = 0; id < computation.size(); ++id) {
    const hlo::Instruction& instruction = computation[id];
    InstructionId seen = id;
    if (instruction.opcode == hlo::Opcode::kGetTupleElement) {
      const hlo::Instruction& from = computation[seen_through(instruction.operands[0])];
      if (from.opcode == hlo::Opcode::kTuple)
        seen = seen_through(from.operands.at(static_cast<size_t>(hlo::tuple_index(instruction))));
    }
    seen_.push_back(seen);
  }
}

std::vector<InstructionId> Reach::operands(InstructionId id) const {
  std::vector<InstructionId> result;
  for (const InstructionId operand : computation_[id].operands) result.push_back(seen_through(operand));
  return result;
}

std::vector<bool> Reach::ancestors(const std::vector<InstructionId>& roots,
                                   const std::function<bool(InstructionId)>& stop) const {
  std::vector<bool> needed(computation_.instructions.size(), false);
  for (const InstructionId root : roots) needed[static_cast<size_t>(seen_through(root))] = true;
  for (InstructionId id = computation_.size(); id-- > 0;) {
    if (!needed[static_cast<size_t>(id)] || stop(id)) continue;
    for (const InstructionId operand : operands(id)) needed[static_cast<size_t>(operand)] = true;
  }
  return needed;
}

}  // namespace alpa::passes
