#include "alpa/passes/drop_markers.h"

#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"

namespace alpa::passes {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;

bool is_marker(const Instruction& instruction) {
  if (instruction.opcode != Opcode::kCustomCall) return false;
  const std::string target = hlo::custom_call_target(instruction);
  return target == kGradientMarker || target == kPipelineMarker;
}

// A marker over several values becomes the tuple of its operands, one over a single array that array.
Computation drop(const Computation& computation) {
  Computation result;
  result.name = computation.name;
  result.proto = computation.proto;
  result.proto_id = computation.proto_id;
  std::vector<InstructionId> map(computation.instructions.size());
  for (InstructionId id = 0; id < computation.size(); ++id) {
    Instruction copy = computation[id];
    for (InstructionId& operand : copy.operands) operand = map[static_cast<size_t>(operand)];
    for (InstructionId& before : copy.control_predecessors) before = map[static_cast<size_t>(before)];
    if (is_marker(copy)) {
      require<InvalidArgumentError>(!copy.operands.empty(), "markers", "marker {} has no operands", copy.name);
      if (!copy.shape.is_tuple()) {
        map[static_cast<size_t>(id)] = copy.operands[0];
        continue;
      }
      const int64_t proto_id = copy.proto_id;
      copy = hlo::make_instruction(Opcode::kTuple, copy.name, copy.shape, copy.operands);
      copy.proto_id = proto_id;
    }
    map[static_cast<size_t>(id)] = result.size();
    result.instructions.push_back(std::move(copy));
  }
  result.root = map[static_cast<size_t>(computation.root)];
  return result;
}

}  // namespace

hlo::Module drop_markers(const hlo::Module& module) {
  hlo::Module result = module;
  for (hlo::Computation& computation : result.computations) {
    const bool marked = std::any_of(computation.instructions.begin(), computation.instructions.end(), is_marker);
    if (marked) computation = drop(computation);
  }
  return result;
}

}  // namespace alpa::passes
