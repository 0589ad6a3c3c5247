#include "alpa/hlo/module.h"

#include "alpa/hlo/attributes.h"

namespace alpa::hlo {

std::vector<InstructionId> parameters(const Computation& computation) {
  std::vector<InstructionId> ids;
  for (InstructionId id = 0; id < computation.size(); ++id) {
    if (computation[id].opcode != Opcode::kParameter) continue;
    const auto number = static_cast<size_t>(parameter_number(computation[id]));
    if (number >= ids.size()) ids.resize(number + 1, -1);
    ids[number] = id;
  }
  return ids;
}

int64_t instruction_count(const Module& module) {
  int64_t count = 0;
  for (const Computation& computation : module.computations) count += computation.size();
  return count;
}

}  // namespace alpa::hlo
