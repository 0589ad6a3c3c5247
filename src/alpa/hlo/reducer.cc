#include "alpa/hlo/reducer.h"

namespace alpa::hlo {

std::optional<Opcode> reducer_opcode(const Computation& reducer) {
  const Instruction& root = reducer[reducer.root];
  if (root.operands.size() != 2 || reducer.size() != 3) return std::nullopt;
  if (reducer[root.operands[0]].opcode != Opcode::kParameter || reducer[root.operands[1]].opcode != Opcode::kParameter)
    return std::nullopt;
  if (root.operands[0] == root.operands[1] || root.shape.dtype != reducer[root.operands[0]].shape.dtype)
    return std::nullopt;
  switch (root.opcode) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr: return root.opcode;
    default: return std::nullopt;
  }
}

}  // namespace alpa::hlo
