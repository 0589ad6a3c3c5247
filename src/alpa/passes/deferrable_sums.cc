#include "alpa/passes/deferrable_sums.h"

#include <algorithm>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/zero_value.h"
#include "alpa/passes/write_accumulation.h"

namespace alpa::passes {
namespace {

using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;

// Of an update's operands the one that is added; the other is what was there before.
constexpr size_t kAddend = 1;

// 0 in the first micro-batch, the accumulator in others; used once.
bool is_choice_of_accumulator(const hlo::Rewrite& entry, InstructionId before, InstructionId flag,
                              InstructionId accumulator) {
  const Instruction& one = entry[before];
  if (one.opcode != Opcode::kSelect || entry.use_count(before) != 1 || entry.use_count(accumulator) != 1) return false;
  const auto made_larger = [&](InstructionId id) {
    return entry[id].opcode == Opcode::kBroadcast ? entry[id].operands[0] : id;
  };
  return made_larger(one.operands[0]) == flag && one.operands[2] == accumulator &&
         hlo::is_zero(entry.computation(), one.operands[1]);
}

/// By accumulator, what is added to it if it may be deferred; -1 for others.
std::vector<DeferrableSum> additions(const hlo::Rewrite& rewrite, const DeferRequest& request) {
  const hlo::Computation& entry = rewrite.computation();
  const std::vector<InstructionId> parameters = hlo::parameters(entry);
  const auto flag = static_cast<size_t>(request.accumulate_inputs);
  std::vector<DeferrableSum> sums(request.deferred.size());
  for (size_t k = 0; k < sums.size(); ++k) {
    const InstructionId update = entry[entry.root].operands.at(k);
    const Instruction& one = entry[update];
    if (!request.deferred[k] || one.opcode != Opcode::kAdd || rewrite.use_count(update) != 1) continue;
    const InstructionId before = one.operands[1 - kAddend];
    if (is_choice_of_accumulator(rewrite, before, parameters.at(flag), parameters.at(flag + 1 + k)))
      sums[k].addend = one.operands[kAddend];
  }
  return sums;
}

std::map<InstructionId, size_t> updates(const hlo::Computation& entry, const std::vector<DeferrableSum>& sums) {
  std::map<InstructionId, size_t> result;
  for (size_t k = 0; k < sums.size(); ++k) {
    if (sums[k].addend >= 0) result.emplace(entry[entry.root].operands[k], kAddend);
  }
  return result;
}

}  // namespace

DeferrableSums::DeferrableSums(const hlo::Module& module, const DeferRequest& request)
    : entry_(module.entry_computation()),
      sums_(additions(entry_, request)),
      flow_(module, entry_, request.num_devices, updates(entry_.computation(), sums_)) {
  const auto is_narrow = [&](InstructionId id) { return sum_type(entry_[id].shape.dtype) != entry_[id].shape.dtype; };
  for (DeferrableSum& sum : sums_) {
    if (sum.addend < 0 || !flow_.is_above(sum.addend)) {
      sum.addend = -1;
      continue;
    }
    LinearFlow::Ways ways = flow_.ways(sum.addend);
    sum.narrow = std::any_of(ways.above.begin(), ways.above.end(), is_narrow) ||
                 std::any_of(ways.leaves.begin(), ways.leaves.end(), is_narrow);
    sum.leaves = std::move(ways.leaves);
  }
}

}  // namespace alpa::passes
