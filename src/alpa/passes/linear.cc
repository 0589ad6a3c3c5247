#include "alpa/passes/linear.h"

#include <algorithm>
#include <vector>

#include "alpa/passes/collective.h"

namespace alpa::passes {
namespace {

using hlo::InstructionId;
using hlo::Opcode;

// Made by the device alone, from nothing but its operands.
bool is_pure(Opcode opcode) {
  switch (opcode) {
    case Opcode::kConstant:
    case Opcode::kIota:
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kCopy:
    case Opcode::kSlice:
    case Opcode::kReduce:
    case Opcode::kConcatenate:
    case Opcode::kPad: return true;
    default:
      return hlo::is_elementwise(opcode) && opcode != Opcode::kMap && opcode != Opcode::kRng &&
             opcode != Opcode::kStochasticConvert;
  }
}

}  // namespace

bool is_same_everywhere(const hlo::Module& module, const hlo::Rewrite& rewrite, InstructionId id, int64_t num_devices) {
  constexpr size_t kMostInstructions = 256;  // what is longer is rarely worth the look
  std::vector<InstructionId> open{id};
  std::vector<InstructionId> seen{id};
  while (!open.empty()) {
    const hlo::Instruction& one = rewrite[open.back()];
    const auto gathers = collective(module, rewrite, open.back(), num_devices);
    open.pop_back();
    if (gathers && gathers->groups.size() == 1 &&
        (gathers->opcode == Opcode::kAllReduce || gathers->opcode == Opcode::kAllGather))
      continue;
    if (!is_pure(one.opcode)) return false;
    for (const InstructionId operand : one.operands) {
      if (std::find(seen.begin(), seen.end(), operand) != seen.end()) continue;
      if (seen.size() == kMostInstructions) return false;
      seen.push_back(operand);
      open.push_back(operand);
    }
  }
  return true;
}

bool is_linear(const hlo::Module& module, const hlo::Rewrite& rewrite, InstructionId user, InstructionId operand,
               int64_t num_devices) {
  const hlo::Instruction& one = rewrite[user];
  if (rewrite.is_ordered(user)) return false;
  switch (one.opcode) {
    case Opcode::kNegate:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kCopy: return true;
    case Opcode::kMultiply: {
      if (one.operands[0] == one.operands[1]) return false;
      const InstructionId other = one.operands[0] == operand ? one.operands[1] : one.operands[0];
      return is_same_everywhere(module, rewrite, other, num_devices);
    }
    case Opcode::kDivide:
      return one.operands[0] == operand && one.operands[1] != operand &&
             is_same_everywhere(module, rewrite, one.operands[1], num_devices);
    default: return false;
  }
}

}  // namespace alpa::passes
