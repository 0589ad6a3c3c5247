#include "alpa/hlo/forward_pass.h"

#include <algorithm>

#include "alpa/hlo/simplify.h"

namespace alpa::hlo {
namespace {

bool is_real_number(const tensor::Shape& shape) {
  return shape.is_array() && shape.rank() == 0 && tensor::is_floating(shape.dtype);
}

// Bytes of the arrays made up to each instruction and read after it, but by the root.
std::vector<int64_t> waiting_bytes(const Computation& entry) {
  const std::vector<bool> constant = constant_values(entry);
  std::vector<InstructionId> last(entry.instructions.size());
  for (InstructionId id = 0; id < entry.size(); ++id) {
    last[static_cast<size_t>(id)] = id;
    for (const InstructionId operand : entry[id].operands) {
      if (id != entry.root) last[static_cast<size_t>(operand)] = id;
    }
  }
  std::vector<int64_t> bytes(entry.instructions.size() + 1);
  for (InstructionId id = 0; id < entry.size(); ++id) {
    const Instruction& one = entry[id];
    if (constant[static_cast<size_t>(id)] || one.opcode == Opcode::kParameter || !one.shape.is_array()) continue;
    bytes[static_cast<size_t>(id)] += tensor::byte_size(one.shape);
    bytes[static_cast<size_t>(last[static_cast<size_t>(id)])] -= tensor::byte_size(one.shape);
  }
  for (size_t id = 1; id < bytes.size(); ++id) bytes[id] += bytes[id - 1];
  bytes.pop_back();
  return bytes;
}

// By instruction: whether `result` follows from it.
std::vector<bool> ancestors(const Computation& entry, InstructionId result) {
  std::vector<bool> found(entry.instructions.size());
  found[static_cast<size_t>(result)] = true;
  for (InstructionId id = result; id >= 0; --id) {
    if (!found[static_cast<size_t>(id)]) continue;
    for (const InstructionId operand : entry[id].operands) found[static_cast<size_t>(operand)] = true;
  }
  return found;
}

}  // namespace

std::vector<bool> constant_values(const Computation& computation) {
  std::vector<bool> constant(computation.instructions.size());
  for (InstructionId id = 0; id < computation.size(); ++id) {
    const Instruction& one = computation[id];
    const auto is_constant = [&](InstructionId operand) { return constant[static_cast<size_t>(operand)]; };
    constant[static_cast<size_t>(id)] = one.opcode != Opcode::kParameter && one.called.empty() &&
                                        !has_side_effects(one) &&
                                        std::all_of(one.operands.begin(), one.operands.end(), is_constant);
  }
  return constant;
}

std::optional<ForwardPass> forward_pass(const Module& module) {
  const Computation& entry = module.entry_computation();
  const std::vector<int64_t> waiting = waiting_bytes(entry);
  const Instruction& root = entry[entry.root];
  const std::vector<InstructionId> results =
      root.opcode == Opcode::kTuple ? root.operands : std::vector<InstructionId>{entry.root};
  std::optional<ForwardPass> best;
  const auto offer = [&](const std::vector<bool>& of_loss) {
    std::optional<InstructionId> end;
    for (InstructionId id = 0; id < entry.size(); ++id) {
      const int64_t least = end ? waiting[static_cast<size_t>(*end)] : 0;
      if (of_loss[static_cast<size_t>(id)] && waiting[static_cast<size_t>(id)] > least) end = id;
    }
    if (!end || (best && waiting[static_cast<size_t>(*end)] <= waiting[static_cast<size_t>(best->end)])) return;
    best = {*end, of_loss};
  };
  for (const InstructionId result : results) {
    if (is_real_number(entry[result].shape)) offer(ancestors(entry, result));
  }
  if (best) return best;
  offer(std::vector<bool>(entry.instructions.size(), true));
  if (!best) return best;
  for (InstructionId id = best->end + 1; id < entry.size(); ++id) best->of_loss[static_cast<size_t>(id)] = false;
  return best;
}

}  // namespace alpa::hlo
