#include "alpa/hlo/rewrite.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "alpa/base/error.h"
#include "alpa/hlo/collectives.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/replica_groups.h"
#include "alpa/hlo/simplify.h"

namespace alpa::hlo {
namespace {

bool must_stay(const Instruction& instruction) {
  return instruction.opcode == Opcode::kParameter || instruction.opcode == Opcode::kWhile ||
         instruction.opcode == Opcode::kConditional || instruction.opcode == Opcode::kCall ||
         has_side_effects(instruction);
}

}  // namespace

FreshNames::FreshNames(const Module& module) {
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      used_.insert(instruction.name);
      if (instruction.proto != nullptr) last_channel_ = std::max(last_channel_, channel_id(instruction));
    }
  }
}

std::string FreshNames::name(const std::string& stem) {
  int64_t& last = last_[stem];
  for (;;) {
    std::string name = stem + "." + std::to_string(++last);
    if (used_.insert(name).second) return name;
  }
}

Rewrite::Rewrite(Computation computation) : computation_(std::move(computation)) {
  users_.resize(computation_.instructions.size());
  ordered_.resize(computation_.instructions.size(), false);
  for (InstructionId id = 0; id < computation_.size(); ++id) count(id);
}

void Rewrite::count(InstructionId id) {
  for (const InstructionId operand : computation_[id].operands) users_[static_cast<size_t>(operand)].insert(id);
  for (const InstructionId before : computation_[id].control_predecessors) {
    ordered_[static_cast<size_t>(before)] = true;
    ordered_[static_cast<size_t>(id)] = true;
  }
}

std::vector<InstructionId> Rewrite::users(InstructionId id) const {
  std::vector<InstructionId> result;
  for (const InstructionId user : users_[static_cast<size_t>(id)]) {
    if (result.empty() || result.back() != user) result.push_back(user);
  }
  return result;
}

int64_t Rewrite::use_count(InstructionId id) const {
  return static_cast<int64_t>(users_[static_cast<size_t>(id)].size()) + (computation_.root == id ? 1 : 0);
}

InstructionId Rewrite::add(Instruction instruction) {
  computation_.instructions.push_back(std::move(instruction));
  users_.emplace_back();
  ordered_.push_back(false);
  count(computation_.size() - 1);
  return computation_.size() - 1;
}

void Rewrite::replace_uses(InstructionId from, InstructionId to) {
  ALPA_CHECK(computation_[from].shape == computation_[to].shape);
  for (const InstructionId user : users(from)) {
    if (user == to) continue;
    std::vector<InstructionId> operands = computation_[user].operands;
    std::replace(operands.begin(), operands.end(), from, to);
    set_operands(user, std::move(operands));
  }
  if (computation_.root == from) computation_.root = to;
}

void Rewrite::set_operands(InstructionId id, std::vector<InstructionId> operands) {
  for (const InstructionId operand : computation_[id].operands) {
    auto& list = users_[static_cast<size_t>(operand)];
    list.erase(list.find(id));
  }
  computation_[id].operands = std::move(operands);
  for (const InstructionId operand : computation_[id].operands) users_[static_cast<size_t>(operand)].insert(id);
}

std::vector<bool> Rewrite::needed() const {
  std::vector<bool> live(computation_.instructions.size(), false);
  std::vector<InstructionId> open;
  const auto visit = [&](InstructionId id) {
    if (live[static_cast<size_t>(id)]) return;
    live[static_cast<size_t>(id)] = true;
    open.push_back(id);
  };
  visit(computation_.root);
  for (InstructionId id = 0; id < computation_.size(); ++id) {
    if (must_stay(computation_[id])) visit(id);
  }
  while (!open.empty()) {
    const Instruction& instruction = computation_[open.back()];
    open.pop_back();
    for (const InstructionId operand : instruction.operands) visit(operand);
    for (const InstructionId before : instruction.control_predecessors) visit(before);
  }
  return live;
}

Computation Rewrite::finish() && {
  const std::vector<bool> live = needed();
  const size_t count = computation_.instructions.size();
  std::vector<int64_t> waits(count, 0);
  std::vector<std::vector<InstructionId>> followers(count);
  for (InstructionId id = 0; id < computation_.size(); ++id) {
    if (!live[static_cast<size_t>(id)]) continue;
    const auto follow = [&](InstructionId before) {
      followers[static_cast<size_t>(before)].push_back(id);
      ++waits[static_cast<size_t>(id)];
    };
    for (const InstructionId operand : computation_[id].operands) follow(operand);
    for (const InstructionId before : computation_[id].control_predecessors) follow(before);
  }
  std::priority_queue<InstructionId, std::vector<InstructionId>, std::greater<>> ready;
  for (InstructionId id = 0; id < computation_.size(); ++id) {
    if (live[static_cast<size_t>(id)] && waits[static_cast<size_t>(id)] == 0) ready.push(id);
  }
  Computation result = without_instructions(computation_);
  std::vector<InstructionId> map(count, -1);
  while (!ready.empty()) {
    const InstructionId id = ready.top();
    ready.pop();
    map[static_cast<size_t>(id)] = result.size();
    result.instructions.push_back(remapped(computation_[id], map));
    for (const InstructionId follower : followers[static_cast<size_t>(id)]) {
      if (--waits[static_cast<size_t>(follower)] == 0) ready.push(follower);
    }
  }
  const auto left = std::count(live.begin(), live.end(), true);
  ALPA_CHECK(static_cast<int64_t>(left) == result.size());  // else there is a cycle
  result.root = map[static_cast<size_t>(computation_.root)];
  return result;
}

Module rewrite_computations(const Module& module, const std::function<void(Rewrite&, FreshNames&)>& change) {
  Module result = module;
  FreshNames names(module);
  const std::vector<double> times = executions(module);
  for (size_t id = 0; id < times.size(); ++id) {
    if (times[id] == 0) continue;
    Rewrite rewrite(std::move(result.computations[id]));
    change(rewrite, names);
    result.computations[id] = std::move(rewrite).finish();
  }
  return drop_uncalled(std::move(result));
}

}  // namespace alpa::hlo
