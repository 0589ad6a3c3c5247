#include "alpa/hlo/inline_calls.h"

#include <unordered_set>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"

namespace alpa::hlo {
namespace {

// Calls can nest so that inlining doubles the program at each level; no real one comes near this.
constexpr int64_t kMaxInstructions = 20'000'000;

class Inliner {
 public:
  explicit Inliner(const Module& module) : module_(module) {}

  Module run() {
    Module result;
    result.name = module_.name;
    result.proto = module_.proto;
    for (const Computation& computation : module_.computations) {
      flattened_.push_back(flatten(computation));
    }
    mark_used(module_.entry);
    std::vector<ComputationId> renumbered(flattened_.size(), -1);
    for (size_t id = 0; id < flattened_.size(); ++id) {
      if (!used_[id]) continue;
      renumbered[id] = static_cast<ComputationId>(result.computations.size());
      result.computations.push_back(std::move(flattened_[id]));
      for (Instruction& instruction : result.computations.back().instructions) {
        for (ComputationId& callee : instruction.called) callee = renumbered[static_cast<size_t>(callee)];
      }
    }
    result.entry = renumbered[static_cast<size_t>(module_.entry)];
    make_names_unique(result);
    return result;
  }

 private:
  Computation flatten(const Computation& computation) {
    Computation result;
    result.name = computation.name;
    result.proto = computation.proto;
    result.proto_id = computation.proto_id;
    std::vector<InstructionId> map(computation.instructions.size());
    for (InstructionId id = 0; id < computation.size(); ++id) {
      const Instruction& instruction = computation[id];
      map[static_cast<size_t>(id)] = instruction.opcode == Opcode::kCall ? splice(instruction, map, result)
                                                                          : append(instruction, map, result);
    }
    result.root = map[static_cast<size_t>(computation.root)];
    return result;
  }

  InstructionId append(const Instruction& instruction, const std::vector<InstructionId>& map, Computation& result) {
    Instruction copy = instruction;
    for (InstructionId& operand : copy.operands) operand = map[static_cast<size_t>(operand)];
    for (InstructionId& before : copy.control_predecessors) before = map[static_cast<size_t>(before)];
    copy.proto_id = kUnnumbered;
    require<UnsupportedError>(++total_ < kMaxInstructions, "hlo", "the program has more than {} instructions once its calls "
                              "are inlined", kMaxInstructions);
    result.instructions.push_back(std::move(copy));
    return result.size() - 1;
  }

  // The callee was flattened before: callees come first.
  InstructionId splice(const Instruction& call, const std::vector<InstructionId>& caller_map, Computation& result) {
    const Computation& callee = flattened_[static_cast<size_t>(call.called.at(0))];
    std::vector<InstructionId> map(callee.instructions.size());
    for (InstructionId id = 0; id < callee.size(); ++id) {
      const Instruction& instruction = callee[id];
      if (instruction.opcode == Opcode::kParameter) {
        const auto number = static_cast<size_t>(parameter_number(instruction));
        require<InvalidArgumentError>(number < call.operands.size(), "hlo", "call {} has {} operands, but its callee {} has "
                                      "more parameters", call.name, call.operands.size(), callee.name);
        map[static_cast<size_t>(id)] = caller_map[static_cast<size_t>(call.operands[number])];
      } else {
        map[static_cast<size_t>(id)] = append(instruction, map, result);
      }
    }
    return map[static_cast<size_t>(callee.root)];
  }

  void mark_used(ComputationId id) {
    if (used_.empty()) used_.resize(flattened_.size());
    if (used_[static_cast<size_t>(id)]) return;
    used_[static_cast<size_t>(id)] = true;
    for (const Instruction& instruction : flattened_[static_cast<size_t>(id)].instructions) {
      for (const ComputationId callee : instruction.called) mark_used(callee);
    }
  }

  static void make_names_unique(Module& module) {
    std::unordered_set<std::string> taken;
    for (Computation& computation : module.computations) {
      for (Instruction& instruction : computation.instructions) {
        if (taken.insert(instruction.name).second) continue;
        for (int64_t suffix = 1;; ++suffix) {
          std::string candidate = instruction.name + ".i" + std::to_string(suffix);
          if (!taken.insert(candidate).second) continue;
          instruction.name = std::move(candidate);
          break;
        }
      }
    }
  }

  const Module& module_;
  std::vector<Computation> flattened_;
  std::vector<bool> used_;
  int64_t total_ = 0;
};

}  // namespace

Module inline_calls(const Module& module) { return Inliner(module).run(); }

}  // namespace alpa::hlo
