#include "alpa/hlo/collectives.h"

#include <algorithm>

#include "alpa/hlo/trip_count.h"

namespace alpa::hlo {
namespace {

using Totals = std::map<std::string, CollectiveTotal>;

void add(const Module& module, ComputationId id, double executions, Totals& totals) {
  const Computation& computation = module.computation(id);
  for (const Instruction& instruction : computation.instructions) {
    if (is_collective(instruction.opcode)) {
      std::string kind(name(instruction.opcode));
      if (kind.ends_with("-start")) kind.resize(kind.size() - 6);
      int64_t operands = 0;
      for (const InstructionId operand : instruction.operands) operands += tensor::byte_size(computation[operand].shape);
      CollectiveTotal& total = totals[kind];
      total.count += executions;
      total.bytes += executions * static_cast<double>(std::max(operands, tensor::byte_size(instruction.shape)));
    }
    switch (instruction.opcode) {
      case Opcode::kWhile: {
        const double trips = static_cast<double>(trip_count(module, computation, instruction).value_or(1));
        for (const ComputationId callee : instruction.called) add(module, callee, executions * trips, totals);
        break;
      }
      case Opcode::kConditional:
      case Opcode::kCall:
      case Opcode::kFusion:
        for (const ComputationId callee : instruction.called) add(module, callee, executions, totals);
        break;
      default: break;
    }
  }
}

}  // namespace

std::map<std::string, CollectiveTotal> collectives(const Module& module) {
  Totals totals;
  add(module, module.entry, 1, totals);
  return totals;
}

}  // namespace alpa::hlo
