#pragma once

#include <string_view>
#include <vector>

#include "alpa/hlo/rewrite.h"

namespace alpa::passes {

/// Adds an instruction at the end. Returns its id.
hlo::InstructionId append(hlo::Computation& to, hlo::Instruction instruction);

/// Adds instructions of a pass at the end of a computation: they are named after their opcode and `pass`.
class Appender {
 public:
  Appender(hlo::FreshNames& names, std::string_view pass) : names_(names), pass_(pass) {}

  hlo::InstructionId op(hlo::Computation& to, hlo::Opcode opcode, const tensor::Shape& shape,
                        std::vector<hlo::InstructionId> operands) const;
  hlo::InstructionId scalar(hlo::Computation& to, tensor::DType dtype, double value) const;
  /// A scalar made larger; the scalar itself where the shape is one.
  hlo::InstructionId broadcast(hlo::Computation& to, hlo::InstructionId scalar, const tensor::Shape& shape) const;

 private:
  std::string name(hlo::Opcode opcode) const;

  hlo::FreshNames& names_;
  std::string_view pass_;
};

}  // namespace alpa::passes
