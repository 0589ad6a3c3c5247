#include "alpa/passes/zero_value.h"

#include "alpa/hlo/attributes.h"

namespace alpa::passes {

bool is_zero(const hlo::Computation& computation, hlo::InstructionId id) {
  if (computation[id].opcode == hlo::Opcode::kBroadcast) id = computation[id].operands[0];
  const hlo::Instruction& one = computation[id];
  if (one.opcode != hlo::Opcode::kConstant || one.shape.rank() != 0) return false;
  const auto value = hlo::constant_value(one);
  return value && value->at(0) == 0 && value->imaginary_at(0) == 0;
}

}  // namespace alpa::passes
