#include "alpa/passes/drop_markers.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/markers.h"

namespace alpa::passes {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;

// For XLA's own propagation of shardings: the planner's choice takes its place.
constexpr std::array<std::string_view, 2> kPropagationHints = {"xla.sdy.FuncResultSharding",
                                                               "xla.sdy.PropagationBarrier"};

using IsMarker = bool (*)(const Instruction&);

bool is_other_marker(const Instruction& instruction) {
  if (instruction.opcode != Opcode::kCustomCall) return false;
  const std::string target = hlo::custom_call_target(instruction);
  return target == hlo::kPipelineMarker ||
         std::find(kPropagationHints.begin(), kPropagationHints.end(), target) != kPropagationHints.end();
}

bool is_marker(const Instruction& instruction) {
  return hlo::is_gradient_marker(instruction) || is_other_marker(instruction);
}

// Whether a value is a tuple that is only taken apart.
bool is_taken_apart(const Computation& computation, InstructionId tuple) {
  if (tuple == computation.root || !computation[tuple].shape.is_tuple()) return false;
  const auto contains = [&](const std::vector<InstructionId>& ids) {
    return std::find(ids.begin(), ids.end(), tuple) != ids.end();
  };
  return std::none_of(computation.instructions.begin(), computation.instructions.end(), [&](const Instruction& one) {
    const bool takes_apart = one.opcode == Opcode::kGetTupleElement && one.control_predecessors.empty();
    return (contains(one.operands) && !takes_apart) || contains(one.control_predecessors);
  });
}

// A marker over several values becomes the tuple of its operands, one over a single array that array. What is taken
// out of that tuple is the operand itself: through the tuple, the loss would seem to be made of the gradients.
Computation drop(const Computation& computation, IsMarker is_marker) {
  Computation result = hlo::without_instructions(computation);
  std::vector<InstructionId> map(computation.instructions.size());
  std::set<InstructionId> taken_apart;  // Markers of `computation`.
  for (InstructionId id = 0; id < computation.size(); ++id) {
    const Instruction& old = computation[id];
    if (is_marker(old) && is_taken_apart(computation, id)) {
      require_identity(computation, old);
      taken_apart.insert(id);
      continue;
    }
    if (old.opcode == Opcode::kGetTupleElement && taken_apart.contains(old.operands[0])) {
      const InstructionId element = computation[old.operands[0]].operands[static_cast<size_t>(hlo::tuple_index(old))];
      map[static_cast<size_t>(id)] = map[static_cast<size_t>(element)];
      continue;
    }
    Instruction copy = hlo::remapped(old, map);
    if (is_marker(copy)) {
      require_identity(computation, computation[id]);
      if (copy.operands.size() == 1 && computation[computation[id].operands[0]].shape == copy.shape) {
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

hlo::Module without(const hlo::Module& module, IsMarker is_marker) {
  hlo::Module result = module;
  for (hlo::Computation& computation : result.computations) {
    const bool marked = std::any_of(computation.instructions.begin(), computation.instructions.end(), is_marker);
    if (marked) computation = drop(computation, is_marker);
  }
  return result;
}

}  // namespace

// A marker is an identity: anything else would change the program when it goes.
void require_identity(const Computation& computation, const Instruction& marker) {
  std::vector<tensor::Shape> operands;
  for (const InstructionId operand : marker.operands) operands.push_back(computation[operand].shape);
  const bool bare = operands.size() == 1 && operands[0] == marker.shape;
  require<InvalidArgumentError>(bare || tensor::Shape::tuple(operands) == marker.shape, "markers",
                                "marker {} gives {} for operands {}: it must give them as they are", marker.name,
                                tensor::to_string(marker.shape), tensor::to_string(tensor::Shape::tuple(operands)));
}

hlo::Module drop_markers(const hlo::Module& module) { return without(module, is_marker); }

hlo::Module drop_other_markers(const hlo::Module& module) { return without(module, is_other_marker); }

}  // namespace alpa::passes
