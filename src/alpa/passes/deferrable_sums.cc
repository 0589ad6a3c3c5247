#include "alpa/passes/deferrable_sums.h"

#include <algorithm>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/linear_operands.h"
#include "alpa/passes/collective.h"
#include "alpa/passes/write_accumulation.h"

namespace alpa::passes {
namespace {

using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;

// Of an update's operands the one that is added; the other is what was there before.
constexpr size_t kAddend = 1;

}  // namespace

DeferrableSums::DeferrableSums(const hlo::Module& module, const DeferRequest& request)
    : module_(module),
      entry_(module.entry_computation()),
      num_devices_(request.num_devices),
      fixed_(hlo::fixed_values(module.entry_computation())) {
  const auto count = static_cast<size_t>(entry_.size());
  updates_.assign(count, false);
  absorbed_.assign(count, false);
  gathered_.assign(count, false);
  match_updates(request);
  for (InstructionId id = entry_.size(); id-- > 0;) absorbed_[at(id)] = goes_into_sums(id);
  for (InstructionId id = 0; id < entry_.size(); ++id) {
    const std::vector<size_t> operands = linear_operands(id);
    gathered_[at(id)] = is_linear_collective(id) || std::any_of(operands.begin(), operands.end(), [&](size_t k) {
                          return is_above(entry_[id].operands[k]);
                        });
  }
  for (DeferrableSum& sum : sums_) {
    if (sum.addend >= 0 && is_above(sum.addend)) {
      std::set<InstructionId> seen;
      collect(sum.addend, seen, sum);
    } else {
      sum.addend = -1;
    }
  }
}

void DeferrableSums::match_updates(const DeferRequest& request) {
  const hlo::Computation& entry = entry_.computation();
  const std::vector<InstructionId> parameters = hlo::parameters(entry);
  const auto flag = static_cast<size_t>(request.accumulate_inputs);
  sums_.resize(request.deferred.size());
  for (size_t k = 0; k < request.deferred.size(); ++k) {
    const InstructionId update = entry[entry.root].operands.at(k);
    const Instruction& one = entry[update];
    if (!request.deferred[k] || one.opcode != Opcode::kAdd || entry_.use_count(update) != 1) continue;
    const InstructionId before = one.operands[1 - kAddend];
    if (!is_choice_of_accumulator(before, parameters.at(flag), parameters.at(flag + 1 + k))) continue;
    updates_[at(update)] = true;
    sums_[k].addend = one.operands[kAddend];
  }
}

// 0 in the first micro-batch, the accumulator in others; used once.
bool DeferrableSums::is_choice_of_accumulator(InstructionId before, InstructionId flag,
                                              InstructionId accumulator) const {
  const Instruction& one = entry_[before];
  if (one.opcode != Opcode::kSelect || entry_.use_count(before) != 1 || entry_.use_count(accumulator) != 1)
    return false;
  const auto made_larger = [&](InstructionId id) {
    return entry_[id].opcode == Opcode::kBroadcast ? entry_[id].operands[0] : id;
  };
  const Instruction& zero = entry_[made_larger(one.operands[1])];
  if (made_larger(one.operands[0]) != flag || one.operands[2] != accumulator || zero.opcode != Opcode::kConstant)
    return false;
  const auto value = hlo::constant_value(zero);
  return value && zero.shape.rank() == 0 && value->at(0) == 0 && value->imaginary_at(0) == 0;
}

bool DeferrableSums::is_linear_collective(InstructionId id) const {
  const Instruction& one = entry_[id];
  if (one.opcode == Opcode::kCollectivePermute)
    return one.operands.size() == 1 && one.shape.is_array() && !entry_.is_ordered(id);
  const auto known = collective(module_, entry_, id, num_devices_);
  return known && (!known->reduction || known->is_sum());
}

std::vector<size_t> DeferrableSums::linear_operands(InstructionId id) const {
  if (entry_.is_ordered(id)) return {};
  if (is_linear_collective(id)) return {0};
  return hlo::linear_operands(module_, entry_.computation(), id, fixed_);
}

bool DeferrableSums::goes_into_sums(InstructionId id) const {
  if (entry_.use_count(id) == 0 || entry_.computation().root == id) return false;
  for (const InstructionId user : entry_.users(id)) {
    const Instruction& one = entry_[user];
    std::vector<size_t> positions;
    if (updates_[at(user)]) {
      positions = {kAddend};
    } else if (absorbed_[at(user)]) {
      positions = linear_operands(user);
    }
    for (size_t k = 0; k < one.operands.size(); ++k) {
      if (one.operands[k] == id && std::find(positions.begin(), positions.end(), k) == positions.end()) return false;
    }
  }
  return true;
}

void DeferrableSums::collect(InstructionId id, std::set<InstructionId>& seen, DeferrableSum& sum) const {
  if (!seen.insert(id).second) return;
  const tensor::DType dtype = entry_[id].shape.dtype;
  sum.narrow = sum.narrow || sum_type(dtype) != dtype;
  if (!is_above(id)) return sum.leaves.push_back(id);
  for (const size_t k : linear_operands(id)) collect(entry_[id].operands[k], seen, sum);
}

}  // namespace alpa::passes
