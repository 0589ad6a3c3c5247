#include "alpa/hlo/collectives.h"

#include <algorithm>
#include <optional>

#include "alpa/hlo/trip_count.h"

namespace alpa::hlo {
namespace {

// Executions of the computations that an instruction calls, for each of its own; nothing for those applied to elements.
std::optional<double> executions_of_callees(const Module& module, const Computation& computation,
                                            const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kWhile: return static_cast<double>(trip_count(module, computation, instruction).value_or(1));
    case Opcode::kConditional:
    case Opcode::kCall:
    case Opcode::kFusion: return 1;
    default: return std::nullopt;
  }
}

}  // namespace

std::vector<double> executions(const Module& module) {
  std::vector<double> result(module.computations.size());
  result[static_cast<size_t>(module.entry)] = 1;
  // Callers come after their callees: from the back, each computation is entered when all its callers are counted.
  for (size_t id = module.computations.size(); id-- > 0;) {
    if (result[id] == 0) continue;
    const Computation& computation = module.computations[id];
    for (const Instruction& instruction : computation.instructions) {
      const auto times = executions_of_callees(module, computation, instruction);
      if (!times) continue;
      for (const ComputationId callee : instruction.called) result[static_cast<size_t>(callee)] += result[id] * *times;
    }
  }
  return result;
}

int64_t collective_bytes(const Computation& computation, const Instruction& instruction) {
  int64_t operands = 0;
  for (const InstructionId operand : instruction.operands) operands += tensor::byte_size(computation[operand].shape);
  return std::max(operands, tensor::byte_size(instruction.shape));
}

std::map<std::string, CollectiveTotal> collectives(const Module& module) {
  std::map<std::string, CollectiveTotal> totals;
  const std::vector<double> times = executions(module);
  for (size_t id = 0; id < times.size(); ++id) {
    const Computation& computation = module.computations[id];
    for (const Instruction& instruction : computation.instructions) {
      if (times[id] == 0 || !is_collective(instruction.opcode)) continue;
      std::string kind(name(instruction.opcode));
      if (kind.ends_with("-start")) kind.resize(kind.size() - 6);
      CollectiveTotal& total = totals[kind];
      total.count += times[id];
      total.bytes += times[id] * static_cast<double>(collective_bytes(computation, instruction));
    }
  }
  return totals;
}

}  // namespace alpa::hlo
