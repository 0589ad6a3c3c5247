#include "alpa/passes/append.h"

#include <utility>

#include "alpa/hlo/edit.h"

namespace alpa::passes {

using hlo::Computation;
using hlo::InstructionId;
using hlo::Opcode;
using tensor::Shape;

InstructionId append(Computation& to, hlo::Instruction instruction) {
  to.instructions.push_back(std::move(instruction));
  return to.size() - 1;
}

std::string Appender::name(Opcode opcode) const {
  return names_.name(std::string(hlo::name(opcode)) + "." + std::string(pass_));
}

InstructionId Appender::op(Computation& to, Opcode opcode, const Shape& shape,
                           std::vector<InstructionId> operands) const {
  return append(to, hlo::make_instruction(opcode, name(opcode), shape, std::move(operands)));
}

InstructionId Appender::scalar(Computation& to, tensor::DType dtype, double value) const {
  tensor::Literal literal((Shape(dtype, {})));
  literal.set(0, value);
  return append(to, hlo::make_constant(name(Opcode::kConstant), literal));
}

InstructionId Appender::broadcast(Computation& to, InstructionId scalar, const Shape& shape) const {
  if (shape.rank() == 0) return scalar;
  return append(to, hlo::make_broadcast(name(Opcode::kBroadcast), shape, scalar, {}));
}

}  // namespace alpa::passes
