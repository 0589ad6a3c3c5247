#include "alpa/hlo/simplify.h"

#include <unordered_map>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/proto/hlo.pb.h"

namespace alpa::hlo {
namespace {

bool has_side_effects(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
    case Opcode::kSend:
    case Opcode::kSendDone:
    case Opcode::kRecv:
    case Opcode::kRecvDone:
    case Opcode::kRng:
    case Opcode::kRngGetAndUpdateState: return true;
    case Opcode::kCustomCall: return instruction.proto != nullptr && instruction.proto->custom_call_has_side_effect();
    default: return is_collective(instruction.opcode);
  }
}

// Loops and branches are compared by no signature.
bool can_merge(const Instruction& instruction) {
  return instruction.opcode != Opcode::kParameter && instruction.opcode != Opcode::kWhile &&
         instruction.opcode != Opcode::kConditional && instruction.opcode != Opcode::kCustomCall &&
         instruction.control_predecessors.empty() && !has_side_effects(instruction);
}

std::vector<bool> needed(const Computation& computation) {
  std::vector<bool> live(computation.instructions.size(), false);
  live[static_cast<size_t>(computation.root)] = true;
  for (InstructionId id = computation.size(); id-- > 0;) {
    const Instruction& instruction = computation[id];
    if (instruction.opcode == Opcode::kParameter || has_side_effects(instruction)) live[static_cast<size_t>(id)] = true;
    if (!live[static_cast<size_t>(id)]) continue;
    for (const InstructionId operand : instruction.operands) live[static_cast<size_t>(operand)] = true;
    for (const InstructionId before : instruction.control_predecessors) live[static_cast<size_t>(before)] = true;
  }
  return live;
}

Computation merged(const Module& module, const Computation& computation) {
  const std::vector<bool> live = needed(computation);
  Computation result = without_instructions(computation);
  std::vector<InstructionId> map(computation.instructions.size(), -1);
  std::unordered_map<std::string, InstructionId> seen;
  for (InstructionId id = 0; id < computation.size(); ++id) {
    if (!live[static_cast<size_t>(id)]) continue;
    Instruction instruction = remapped(computation[id], map);
    InstructionId& target = map[static_cast<size_t>(id)];
    if (can_merge(instruction)) {
      std::string key = signature(module, computation, computation[id]) + tensor::to_string(instruction.shape);
      for (const InstructionId operand : instruction.operands) key += ' ' + std::to_string(operand);
      const auto [entry, fresh] = seen.try_emplace(std::move(key), result.size());
      target = entry->second;
      if (!fresh) continue;
    }
    target = result.size();
    result.instructions.push_back(std::move(instruction));
  }
  result.root = map[static_cast<size_t>(computation.root)];
  return result;
}

}  // namespace

Module drop_uncalled(Module result) {
  std::vector<bool> called(result.computations.size(), false);
  called[static_cast<size_t>(result.entry)] = true;
  for (size_t id = result.computations.size(); id-- > 0;) {
    if (!called[id]) continue;
    for (const Instruction& instruction : result.computations[id].instructions) {
      for (const ComputationId callee : instruction.called) called[static_cast<size_t>(callee)] = true;
    }
  }
  std::vector<ComputationId> map(result.computations.size(), -1);
  std::vector<Computation> kept;
  for (size_t id = 0; id < result.computations.size(); ++id) {
    if (!called[id]) continue;
    map[id] = static_cast<ComputationId>(kept.size());
    kept.push_back(std::move(result.computations[id]));
    for (Instruction& instruction : kept.back().instructions) {
      for (ComputationId& callee : instruction.called) callee = map[static_cast<size_t>(callee)];
    }
  }
  result.entry = map[static_cast<size_t>(result.entry)];
  result.computations = std::move(kept);
  return result;
}

Module simplify_entry(const Module& module) {
  Module result = module;
  result.entry_computation() = merged(module, module.entry_computation());
  // A merge may leave behind what only the dropped copy needed: nothing, since operands of equal instructions are
  // equal.
  return drop_uncalled(std::move(result));
}

}  // namespace alpa::hlo
