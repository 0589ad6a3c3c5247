// Which collectives of a predicted program run after a loop instead of in it; the same rule as
// passes/hoist_loop_sums.h, on steps.

#include <algorithm>
#include <iterator>

#include "alpa/planner/intra/predicted_program.h"

namespace alpa::planner {
namespace {

size_t at(int32_t number) { return static_cast<size_t>(number); }

}  // namespace

int32_t PredictedProgram::outside(int32_t number) const {
  for (auto found = outside_.find(number); found != outside_.end(); found = outside_.find(number))
    number = found->second;
  return number;
}

void PredictedProgram::hoist_added() {
  hoist([](const PredictedLoopSum& sum) { return sum.rows == 0; });
}

void PredictedProgram::hoist_rows(const std::vector<char>& which, int32_t entry) {
  const Waiting waits = waiting(sinks(which));
  hoist([&](const PredictedLoopSum& sum) {
    if (sum.rows == 0 || sum.caller != entry) return false;
    const PredictedStep& carry = step(sum.carry);
    // All uses but the update's: each leads into accumulators.
    Sinks all = sinks(which);
    all.emplace(sum.update, static_cast<size_t>(std::find(step(sum.update).operands.begin(),
                                                          step(sum.update).operands.end(), sum.carry) -
                                                step(sum.update).operands.begin()));
    return carry.users.size() > 1 && goes_into_sums(sum.carry, all, waits.absorbed);
  });
}

void PredictedProgram::hoist(const std::function<bool(const PredictedLoopSum&)>& allowed) {
  // What leaves an inner loop may leave the outer one: loops are there outer ones first.
  std::map<int32_t, std::map<std::pair<int64_t, int32_t>, LoopGroup>, std::greater<>> loops;
  for (const PredictedLoopSum& sum : loop_sums_) loops[sum.loop][{sum.rows, sum.row}].push_back(sum);
  for (auto& [loop, groups] : loops) {
    for (auto& [rows, group] : groups) {
      std::erase_if(group, [&](const PredictedLoopSum& sum) { return outside_.contains(sum.carry) || !allowed(sum); });
      hoist_group(std::move(group));
    }
  }
}

void PredictedProgram::hoist_group(LoopGroup group) {
  Waiting waits;
  for (size_t before = group.size() + 1; before != group.size();) {
    before = group.size();
    Sinks sinks;
    for (const PredictedLoopSum& sum : group) sinks.emplace(sum.update, sum.addend);
    waits = waiting(sinks);
    std::erase_if(group, [&](const PredictedLoopSum& sum) {
      std::set<int32_t> above;
      return !waits.above[at(step(sum.update).operands[sum.addend])] ||
             (sum.rows == 0 && converts(step(sum.update).operands[sum.addend], waits, above));
    });
  }
  if (group.empty()) return;
  std::vector<int64_t> others;  // uses by what is no step
  for (const PredictedStep& one : steps_) others.push_back(one.uses - static_cast<int64_t>(one.users.size()));
  std::set<int32_t> moved;
  std::vector<int32_t> leaves;
  for (const PredictedLoopSum& sum : group) find_ways(step(sum.update).operands[sum.addend], waits, moved, leaves);
  for (const PredictedLoopSum& sum : group) {
    const int32_t addend = step(sum.update).operands[sum.addend];
    for (const int32_t user : step(sum.carry).users) {
      if (user != sum.update) std::replace(step(user).operands.begin(), step(user).operands.end(), sum.carry, addend);
    }
    std::swap(others[at(addend)], others[at(sum.carry)]);
    outside_.emplace(sum.carry, addend);
  }
  const std::map<int32_t, int32_t> carry_of = carry_leaves(group, leaves);
  for (const int32_t number : moved) move_after_loop(number, group.front(), waits, carry_of);
  count_users(others);
}

bool PredictedProgram::converts(int32_t number, const Waiting& waits, std::set<int32_t>& seen) const {
  const PredictedStep& one = step(number);
  if (!waits.above[at(number)] || !seen.insert(number).second) return false;
  return one.role == StepRole::kConvert || std::any_of(one.linear.begin(), one.linear.end(), [&](size_t k) {
           return converts(one.operands[k], waits, seen);
         });
}

// What a value that is above is made of: what is above too, and leaves, each once.
void PredictedProgram::find_ways(int32_t number, const Waiting& waits, std::set<int32_t>& above,
                                 std::vector<int32_t>& leaves) const {
  if (!waits.above[at(number)]) {
    if (std::find(leaves.begin(), leaves.end(), number) == leaves.end()) leaves.push_back(number);
  } else if (above.insert(number).second) {
    for (const size_t k : step(number).linear) find_ways(step(number).operands[k], waits, above, leaves);
  }
}

// The loop carries the leaves' sums instead: a carry one that is there before the carry's next value is made, the last
// carry all that are left.
std::map<int32_t, int32_t> PredictedProgram::carry_leaves(const LoopGroup& group, const std::vector<int32_t>& leaves) {
  std::map<int32_t, int32_t> carry_of;
  for (const PredictedLoopSum& sum : group) {
    step(sum.carry).result.bytes = step(sum.carry).result.elements = 0;
    step(sum.carry).from_zeros = true;
    step(sum.update).operands = {sum.carry};
    step(sum.update).linear.clear();
    step(sum.update).role = StepRole::kOther;
  }
  std::vector<const PredictedLoopSum*> free;  // without a leaf yet, but for the last
  for (const PredictedLoopSum& sum : group) free.push_back(&sum);
  std::sort(free.begin(), free.end(), [](const auto* a, const auto* b) { return a->update < b->update; });
  for (size_t k = 0; k < leaves.size(); ++k) {
    const auto place = std::find_if(free.begin(), std::prev(free.end()),
                                    [&](const PredictedLoopSum* one) { return one->update > leaves[k]; });
    const PredictedLoopSum& sum = **place;
    if (std::next(place) != free.end()) free.erase(place);
    const StepResult& leaf = step(leaves[k]).result;
    StepResult& carried = step(sum.carry).result;
    carried.bytes += leaf.bytes * std::max<int64_t>(sum.rows, 1);
    carried.elements += leaf.elements * std::max<int64_t>(sum.rows, 1);
    step(sum.update).operands.push_back(leaves[k]);
    carry_of.emplace(leaves[k], sum.carry);
  }
  for (const PredictedLoopSum& sum : group) {
    StepResult& updated = step(sum.update).result;
    updated.bytes = step(sum.carry).result.bytes;
    updated.elements = step(sum.carry).result.elements;
    if (updated.bytes == 0) updated.opcode = hlo::Opcode::kBitcast;
  }
  return carry_of;
}

// Fixed operands are made anew there.
void PredictedProgram::move_after_loop(int32_t number, const PredictedLoopSum& sum, const Waiting& waits,
                                       const std::map<int32_t, int32_t>& carry_of) {
  PredictedStep& one = step(number);
  std::vector<int32_t> operands;
  for (const size_t k : one.linear) {
    const int32_t operand = one.operands[k];
    operands.push_back(waits.above[at(operand)] ? operand : carry_of.at(operand));
  }
  one.operands = std::move(operands);
  for (size_t k = 0; k < one.linear.size(); ++k) one.linear[k] = k;
  one.result.computation = sum.caller;
  for (PredictedCollective& collective : one.collectives) {
    collective.computation = sum.caller;
    collective.executions = sum.executions;
  }
  if (sum.rows == 0) return;
  one.result.bytes *= sum.rows;
  one.result.elements *= sum.rows;
  one.stacked = true;
  if (one.role == StepRole::kSlice) ++one.slice_dim;
  for (PredictedCollective& collective : one.collectives) {
    collective.bytes *= sum.rows;
    collective.rearranged |= sum.rows > 1 && collective.kind != hlo::Opcode::kAllReduce;
    if (collective.gathered_dim >= 0) ++collective.gathered_dim;
  }
}

void PredictedProgram::count_users(const std::vector<int64_t>& others) {
  for (PredictedStep& one : steps_) one.users.clear();
  for (size_t number = 0; number < steps_.size(); ++number) {
    for (const int32_t operand : steps_[number].operands) step(operand).users.push_back(static_cast<int32_t>(number));
  }
  for (size_t number = 0; number < steps_.size(); ++number)
    steps_[number].uses = others[number] + static_cast<int64_t>(steps_[number].users.size());
}

}  // namespace alpa::planner
