// What of a predicted program waits for the last micro-batch; the same rule as passes/deferrable_sums.h, on steps.

#include <algorithm>

#include "alpa/planner/intra/predicted_program.h"

namespace alpa::planner {
namespace {

// Of an addition to an accumulator; operand 0 is what was there before.
constexpr size_t kAddend = 1;

bool is_linear(const PredictedCollective& one) { return one.kind != hlo::Opcode::kAllReduce || one.is_sum; }

}  // namespace

size_t PredictedProgram::add_accumulation(int32_t number, int64_t bytes) {
  step(number).accumulator = static_cast<int>(accumulations_.size());
  accumulations_.push_back({number, bytes});
  return accumulations_.size() - 1;
}

bool PredictedProgram::goes_into_sums(int32_t number, const std::vector<char>& which,
                                      const std::vector<char>& absorbed) const {
  const PredictedStep& one = step(number);
  if (one.users.empty() || one.uses != static_cast<int64_t>(one.users.size())) return false;
  return std::all_of(one.users.begin(), one.users.end(), [&](int32_t user) {
    const PredictedStep& next = step(user);
    const bool adds = next.accumulator >= 0 && which[static_cast<size_t>(next.accumulator)] != 0;
    if (!adds && (!absorbed[static_cast<size_t>(user)] ||
                  !std::all_of(next.collectives.begin(), next.collectives.end(), is_linear)))
      return false;
    const std::vector<size_t> sums = adds ? std::vector<size_t>{kAddend} : next.linear;
    for (size_t k = 0; k < next.operands.size(); ++k) {
      if (next.operands[k] == number && std::find(sums.begin(), sums.end(), k) == sums.end()) return false;
    }
    return true;
  });
}

PredictedProgram::Waiting PredictedProgram::waiting(const std::vector<char>& which) const {
  Waiting result{std::vector<char>(steps_.size(), false), std::vector<char>(steps_.size(), false)};
  for (auto number = static_cast<int32_t>(steps_.size()); number-- > 0;)
    result.absorbed[static_cast<size_t>(number)] = goes_into_sums(number, which, result.absorbed);
  for (size_t number = 0; number < steps_.size(); ++number) {
    const PredictedStep& one = steps_[number];
    const bool linear = std::all_of(one.collectives.begin(), one.collectives.end(), is_linear);
    const bool above = std::any_of(one.linear.begin(), one.linear.end(),
                                   [&](size_t k) { return result.above[static_cast<size_t>(one.operands[k])] != 0; });
    result.above[number] = result.absorbed[number] && linear && (above || !one.collectives.empty());
  }
  return result;
}

// Of the leaves under a value that waits, those that were not seen yet.
int64_t PredictedProgram::new_leaf_bytes(int32_t number, const Waiting& waiting, std::set<int32_t>& seen) const {
  if (!seen.insert(number).second) return 0;
  const PredictedStep& one = step(number);
  int64_t bytes = 0;
  bool above = false;
  for (const size_t k : one.linear) {
    const int32_t operand = one.operands[k];
    if (waiting.above[static_cast<size_t>(operand)] == 0) continue;
    above = true;
    bytes += new_leaf_bytes(operand, waiting, seen);
  }
  if (above || one.collectives.empty()) return bytes;
  const PredictedCollective& first = one.collectives.front();
  const int64_t parts = first.kind == hlo::Opcode::kAllGather ? size(first.axes) : 1;
  return first.sum_factor * first.bytes / parts;
}

std::vector<std::optional<int64_t>> PredictedProgram::bytes_of_deferring(const std::vector<char>& which) const {
  const Waiting waits = waiting(which);
  std::vector<std::optional<int64_t>> result;
  std::set<int32_t> seen;
  for (const Accumulation& one : accumulations_) {
    const int32_t addend = step(one.step).operands[kAddend];
    result.emplace_back();
    if (waits.above[static_cast<size_t>(addend)] != 0) result.back() = new_leaf_bytes(addend, waits, seen) - one.bytes;
  }
  return result;
}

void PredictedProgram::defer_sums(const std::vector<char>& which) {
  const Waiting waits = waiting(which);
  for (size_t number = 0; number < steps_.size(); ++number) {
    if (waits.above[number] == 0) continue;
    for (PredictedCollective& one : steps_[number].collectives) one.executions = 1;
  }
  for (const Accumulation& one : accumulations_) {
    const int32_t addend = step(one.step).operands[kAddend];
    if (waits.above[static_cast<size_t>(addend)] == 0) continue;
    // The sum is what was added, which is made in the step's program now: nothing outside wants it.
    step(one.step).role = StepRole::kMove;
    --step(one.step).uses;
  }
}

}  // namespace alpa::planner
