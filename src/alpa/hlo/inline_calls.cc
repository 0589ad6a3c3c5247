#include "alpa/hlo/inline_calls.h"

#include <unordered_map>
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
    result.entry = copy_with_callees(flattened_[static_cast<size_t>(module_.entry)], result);
    make_names_unique(result);
    return result;
  }

 private:
  Computation flatten(const Computation& computation) {
    Computation result = without_instructions(computation);
    std::vector<InstructionId> map(computation.instructions.size());
    for (InstructionId id = 0; id < computation.size(); ++id) {
      const Instruction& instruction = computation[id];
      map[static_cast<size_t>(id)] =
          instruction.opcode == Opcode::kCall ? splice(instruction, map, result) : append(instruction, map, result);
    }
    result.root = map[static_cast<size_t>(computation.root)];
    return result;
  }

  InstructionId append(const Instruction& instruction, const std::vector<InstructionId>& map, Computation& result) {
    Instruction copy = remapped(instruction, map);
    copy.proto_id = kUnnumbered;
    require<UnsupportedError>(++total_ < kMaxInstructions, "hlo",
                              "the program has more than {} instructions once its calls "
                              "are inlined",
                              kMaxInstructions);
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
        require<InvalidArgumentError>(number < call.operands.size(), "hlo",
                                      "call {} has {} operands, but its callee {} has "
                                      "more parameters",
                                      call.name, call.operands.size(), callee.name);
        map[static_cast<size_t>(id)] = caller_map[static_cast<size_t>(call.operands[number])];
      } else {
        map[static_cast<size_t>(id)] = append(instruction, map, result);
      }
    }
    return map[static_cast<size_t>(callee.root)];
  }

  // Callees first. Bodies, conditions and branches are copied for each use; reducers and comparators are shared.
  ComputationId copy_with_callees(Computation computation, Module& result) {
    for (Instruction& instruction : computation.instructions) {
      const bool control = instruction.opcode == Opcode::kWhile || instruction.opcode == Opcode::kConditional;
      for (ComputationId& callee : instruction.called) {
        const auto known = shared_.find(callee);
        if (!control && known != shared_.end()) {
          callee = known->second;
          continue;
        }
        const ComputationId source = callee;
        callee = copy_with_callees(flattened_[static_cast<size_t>(source)], result);
        if (!control) shared_.emplace(source, callee);
      }
    }
    computation.proto_id = kUnnumbered;
    result.computations.push_back(std::move(computation));
    return static_cast<ComputationId>(result.computations.size()) - 1;
  }

  static void make_unique(std::string& name, std::unordered_set<std::string>& taken) {
    if (taken.insert(name).second) return;
    for (int64_t suffix = 1;; ++suffix) {
      std::string candidate = name + ".i" + std::to_string(suffix);
      if (!taken.insert(candidate).second) continue;
      name = std::move(candidate);
      return;
    }
  }

  static void make_names_unique(Module& module) {
    std::unordered_set<std::string> taken;
    std::unordered_set<std::string> taken_computations;
    for (Computation& computation : module.computations) {
      make_unique(computation.name, taken_computations);
      for (Instruction& instruction : computation.instructions) {
        make_unique(instruction.name, taken);
      }
    }
  }

  const Module& module_;
  std::vector<Computation> flattened_;
  std::unordered_map<ComputationId, ComputationId> shared_;
  int64_t total_ = 0;
};

}  // namespace

Module inline_calls(const Module& module) { return Inliner(module).run(); }

}  // namespace alpa::hlo
