#include "alpa/passes/rematerialize.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "alpa/base/error.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/forward_pass.h"
#include "alpa/hlo/rewrite.h"
#include "alpa/hlo/simplify.h"

namespace alpa::passes {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;

constexpr const char* kPlace = "rematerialize";
constexpr size_t kSearchedUses = 64;  // Instructions that are looked at for what a clone is to wait for.

bool is_repeatable(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kParameter:
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kCustomCall:
    case Opcode::kTuple:
    case Opcode::kOptimizationBarrier: return false;
    default: return !hlo::has_side_effects(instruction);
  }
}

std::vector<bool> chosen(const hlo::Module& module, const std::vector<std::string>& names) {
  const Computation& entry = module.entry_computation();
  const std::vector<bool> allowed = rematerializable(module);
  std::map<std::string_view, InstructionId> ids;
  for (InstructionId id = 0; id < entry.size(); ++id) ids.emplace(entry[id].name, id);
  std::vector<bool> result(entry.instructions.size());
  for (const std::string& name : names) {
    const auto found = ids.find(name);
    require<InvalidArgumentError>(found != ids.end(), kPlace,
                                  "the plan makes {} anew, no instruction of the program: plan again", name);
    require<InvalidArgumentError>(allowed[static_cast<size_t>(found->second)], kPlace,
                                  "the plan makes {} ({}) anew: it is no value of the forward pass that can be made "
                                  "twice; plan again",
                                  name, hlo::name(entry[found->second].opcode));
    result[static_cast<size_t>(found->second)] = true;
  }
  return result;
}

// Writes the entry anew in its order, clones where they are first wanted.
class Rematerializer {
 public:
  Rematerializer(const hlo::Module& module, hlo::ForwardPass forward, std::vector<bool> chosen)
      : old_(module.entry_computation()),
        forward_(std::move(forward)),
        chosen_(std::move(chosen)),
        constant_(hlo::constant_values(old_)),
        users_(old_.instructions.size()),
        kept_(old_.instructions.size(), -1),
        clones_(old_.instructions.size(), -1),
        names_(module),
        result_(hlo::without_instructions(old_)) {
    for (InstructionId id = 0; id < old_.size(); ++id) {
      for (const InstructionId operand : old_[id].operands) users_[static_cast<size_t>(operand)].push_back(id);
    }
  }

  Computation run() {
    for (InstructionId id = 0; id < old_.size(); ++id) {
      if (takes_clones(id)) make_clones_for(id);
      Instruction copy = hlo::remapped(old_[id], kept_);
      for (size_t k = 0; k < copy.operands.size(); ++k) copy.operands[k] = operand(id, old_[id].operands[k]);
      kept_[static_cast<size_t>(id)] = add(std::move(copy));
    }
    result_.root = kept_[static_cast<size_t>(old_.root)];
    return hlo::Rewrite(std::move(result_)).finish();  // an original may have had late uses alone
  }

 private:
  bool takes_clones(InstructionId id) const { return forward_.is_backward(id) && id != old_.root; }
  bool is_chosen(InstructionId id) const { return chosen_[static_cast<size_t>(id)]; }
  InstructionId& clone_of(InstructionId id) { return clones_[static_cast<size_t>(id)]; }

  InstructionId add(Instruction instruction) {
    result_.instructions.push_back(std::move(instruction));
    return result_.size() - 1;
  }

  // What the new instruction of `user` reads in place of `id`.
  InstructionId operand(InstructionId user, InstructionId id) {
    if (takes_clones(user) && is_chosen(id)) return clone_of(id);
    const auto held = held_.find({user, id});
    return held == held_.end() ? kept_[static_cast<size_t>(id)] : held->second;
  }

  void make_clones_for(InstructionId user) {
    std::set<InstructionId> wanted;
    for (const InstructionId id : old_[user].operands) add_wanted(id, wanted);
    if (wanted.empty()) return;
    std::map<InstructionId, InstructionId> read = hold(user, wanted);
    for (const InstructionId id : wanted) {
      std::vector<InstructionId> operands;
      for (const InstructionId one : old_[id].operands) {
        const auto behind = read.find(one);
        operands.push_back(behind != read.end() ? behind->second
                                                : (is_chosen(one) ? clone_of(one) : kept_[static_cast<size_t>(one)]));
      }
      clone_of(id) = add(hlo::clone(old_[id], names_.name(old_[id].name + ".remat"), std::move(operands)));
    }
  }

  // The chosen values that `id` needs and that have no clone yet.
  void add_wanted(InstructionId id, std::set<InstructionId>& wanted) {
    std::vector<InstructionId> open = {id};
    while (!open.empty()) {
      const InstructionId next = open.back();
      open.pop_back();
      if (!is_chosen(next) || clone_of(next) >= 0 || !wanted.insert(next).second) continue;
      open.insert(open.end(), old_[next].operands.begin(), old_[next].operands.end());
    }
  }

  // What the clones of `wanted` read of the forward pass, behind a barrier: by old instruction the new one.
  std::map<InstructionId, InstructionId> hold(InstructionId user, const std::set<InstructionId>& wanted) {
    std::map<InstructionId, InstructionId> held;
    for (const InstructionId id : wanted) {
      for (const InstructionId one : old_[id].operands) {
        const bool passes = !is_chosen(one) && !constant_[static_cast<size_t>(one)] && old_[one].shape.is_array();
        if (passes) held.emplace(one, -1);
      }
    }
    if (held.empty()) return held;
    std::vector<InstructionId> elements;
    for (const auto& [id, unused] : held) elements.push_back(kept_[static_cast<size_t>(id)]);
    const auto signal = awaited(user);
    if (signal) elements.push_back(operand(signal->first, signal->second));
    const InstructionId barrier = add_barrier(old_[*wanted.begin()].name, elements);
    int64_t next = 0;
    for (auto& [id, behind] : held) behind = add_element(barrier, next++);
    if (signal) held_[*signal] = add_element(barrier, next);
    return held;
  }

  InstructionId add_barrier(const std::string& name, const std::vector<InstructionId>& elements) {
    std::vector<tensor::Shape> shapes;
    for (const InstructionId element : elements) shapes.push_back(result_[element].shape);
    const tensor::Shape shape = tensor::Shape::tuple(std::move(shapes));
    const InstructionId tuple =
        add(hlo::make_instruction(Opcode::kTuple, names_.name(name + ".kept"), shape, elements));
    return add(hlo::make_instruction(Opcode::kOptimizationBarrier, names_.name(name + ".barrier"), shape, {tuple}));
  }

  InstructionId add_element(InstructionId barrier, int64_t index) {
    const std::string name = names_.name(result_[barrier].name + ".element");
    return add(
        hlo::make_get_tuple_element(name, result_[barrier].shape.elements[static_cast<size_t>(index)], barrier, index));
  }

  // The nearest instruction from `user` on, along its users, that reads a value of the backward pass which is there
  // already, and that value: it will be read behind the barrier.
  std::optional<std::pair<InstructionId, InstructionId>> awaited(InstructionId user) const {
    std::set<InstructionId> open = {user};
    std::set<InstructionId> seen = open;
    for (size_t looked = 0; !open.empty() && looked < kSearchedUses; ++looked) {
      const InstructionId next = *open.begin();
      open.erase(open.begin());
      if (next == old_.root) continue;
      for (const InstructionId one : old_[next].operands) {
        const bool there = forward_.is_backward(one) && one < user && !constant_[static_cast<size_t>(one)];
        if (there && old_[one].shape.is_array() && old_[one].shape.rank() > 0) return std::pair{next, one};
      }
      for (const InstructionId one : users_[static_cast<size_t>(next)]) {
        if (seen.insert(one).second) open.insert(one);
      }
    }
    return std::nullopt;
  }

  const Computation& old_;
  const hlo::ForwardPass forward_;
  const std::vector<bool> chosen_;
  const std::vector<bool> constant_;
  std::vector<std::vector<InstructionId>> users_;
  std::vector<InstructionId> kept_;    ///< By old instruction: the new one.
  std::vector<InstructionId> clones_;  ///< The same of chosen ones: their clones, or -1.
  std::map<std::pair<InstructionId, InstructionId>, InstructionId> held_;  ///< By user and operand: read in its place.
  hlo::FreshNames names_;
  Computation result_;
};

}  // namespace

std::vector<bool> rematerializable(const hlo::Module& module) {
  const Computation& entry = module.entry_computation();
  std::vector<bool> result(entry.instructions.size());
  const auto forward = hlo::forward_pass(module);
  if (!forward) return result;
  const std::vector<bool> constant = hlo::constant_values(entry);
  for (InstructionId id = 0; id < forward->end; ++id)
    result[static_cast<size_t>(id)] = is_repeatable(entry[id]) && !constant[static_cast<size_t>(id)];
  const auto forbid = [&](InstructionId id) { result[static_cast<size_t>(id)] = false; };
  for (InstructionId id = 0; id < entry.size(); ++id) {
    for (const InstructionId before : entry[id].control_predecessors) {
      forbid(before);
      forbid(id);
    }
  }
  forbid(entry.root);
  if (entry[entry.root].opcode == Opcode::kTuple) {
    for (const InstructionId output : entry[entry.root].operands) forbid(output);
  }
  return result;
}

hlo::Module rematerialize(const hlo::Module& module, const std::vector<std::string>& names) {
  if (names.empty()) return module;
  std::vector<bool> values = chosen(module, names);
  hlo::Module result = module;
  result.entry_computation() = Rematerializer(module, *hlo::forward_pass(module), std::move(values)).run();
  return result;
}

}  // namespace alpa::passes
