#include "alpa/hlo/zero_value.h"

#include "alpa/hlo/attributes.h"

namespace alpa::hlo {

bool is_zero_scalar(const Instruction& instruction) {
  if (instruction.opcode != Opcode::kConstant || instruction.shape.rank() != 0) return false;
  const auto value = constant_value(instruction);
  return value && value->at(0) == 0 && value->imaginary_at(0) == 0;
}

bool is_zero(const Computation& computation, InstructionId id) {
  const Instruction& one = computation[id];
  return is_zero_scalar(one.opcode == Opcode::kBroadcast ? computation[one.operands[0]] : one);
}

}  // namespace alpa::hlo
