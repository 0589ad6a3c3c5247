#include "alpa/hlo/verify.h"

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"

namespace alpa::hlo {
namespace {

void check_edges(const Module& module, ComputationId id) {
  const Computation& computation = module.computation(id);
  require<InvalidArgumentError>(computation.root >= 0 && computation.root < computation.size(), "hlo",
                                "computation {} has no root", computation.name);
  for (InstructionId at = 0; at < computation.size(); ++at) {
    const Instruction& instruction = computation[at];
    for (const InstructionId operand : instruction.operands) {
      require<InvalidArgumentError>(operand >= 0 && operand < at, "hlo", "instruction {}: an operand does not come before it",
                                    instruction.name);
    }
    for (const ComputationId callee : instruction.called) {
      require<InvalidArgumentError>(callee >= 0 && callee < id, "hlo", "instruction {}: its callee does not come before it",
                                    instruction.name);
    }
  }
}

void check_parameters(const Computation& computation) {
  int64_t count = 0;
  for (const Instruction& instruction : computation.instructions) count += instruction.opcode == Opcode::kParameter;
  std::vector<bool> seen(static_cast<size_t>(count));
  for (const Instruction& instruction : computation.instructions) {
    if (instruction.opcode != Opcode::kParameter) continue;
    const int64_t number = parameter_number(instruction);
    require<InvalidArgumentError>(number >= 0 && number < count && !seen[static_cast<size_t>(number)], "hlo",
                                  "computation {}: parameter number {} of {} is out of range or used twice",
                                  computation.name, number, count);
    seen[static_cast<size_t>(number)] = true;
  }
}

}  // namespace

void verify(const Module& module) {
  require<InvalidArgumentError>(module.entry >= 0 && static_cast<size_t>(module.entry) < module.computations.size(), "hlo",
                                "the module has no entry computation");
  for (size_t id = 0; id < module.computations.size(); ++id) {
    check_edges(module, static_cast<ComputationId>(id));
    check_parameters(module.computations[id]);
  }
}

}  // namespace alpa::hlo
