#include "alpa/planner/intra/step_role.h"

#include <algorithm>

namespace alpa::planner {

StepRole role_of(const hlo::Instruction& instruction, size_t others, bool by_generated) {
  switch (instruction.opcode) {
    case hlo::Opcode::kReshape:
    case hlo::Opcode::kTranspose:
    case hlo::Opcode::kCopy:
    case hlo::Opcode::kNegate: return others == 1 ? StepRole::kMove : StepRole::kOther;
    case hlo::Opcode::kMultiply: return others == 1 ? StepRole::kScale : StepRole::kOther;
    case hlo::Opcode::kDivide: return others == 1 && by_generated ? StepRole::kScale : StepRole::kOther;
    case hlo::Opcode::kConvert: return StepRole::kConvert;
    case hlo::Opcode::kAdd:
    case hlo::Opcode::kSubtract: return others == 2 ? StepRole::kSum : StepRole::kOther;
    default: return StepRole::kOther;
  }
}

int64_t sum_factor(tensor::DType dtype) {
  return tensor::is_floating(dtype) ? std::max(32 / tensor::bit_width(dtype), 1) : 1;
}

}  // namespace alpa::planner
