// What of a predicted program waits for the last micro-batch; the same rule as passes/deferrable_sums.h, on steps.

#include <algorithm>

#include "alpa/planner/intra/accumulated_sums.h"
#include "alpa/planner/intra/predicted_program.h"

namespace alpa::planner {
namespace {

bool is_linear(const PredictedCollective& one) { return one.kind != hlo::Opcode::kAllReduce || one.is_sum; }

}  // namespace

size_t PredictedProgram::add_accumulation(int32_t number, int64_t bytes) {
  accumulations_.push_back({number, bytes});
  return accumulations_.size() - 1;
}

PredictedProgram::Sinks PredictedProgram::sinks(const std::vector<char>& which) const {
  Sinks result;
  for (size_t k = 0; k < accumulations_.size(); ++k) {
    if (which[k] != 0) result.emplace(accumulations_[k].step, kAddend);
  }
  return result;
}

bool PredictedProgram::goes_into_sums(int32_t number, const Sinks& sinks, const std::vector<char>& absorbed) const {
  const PredictedStep& one = step(number);
  if (one.users.empty() || one.uses != static_cast<int64_t>(one.users.size())) return false;
  return std::all_of(one.users.begin(), one.users.end(), [&](int32_t user) {
    const PredictedStep& next = step(user);
    const auto sink = sinks.find(user);
    if (sink == sinks.end() && (!absorbed[static_cast<size_t>(user)] ||
                                !std::all_of(next.collectives.begin(), next.collectives.end(), is_linear)))
      return false;
    const std::vector<size_t> sums = sink != sinks.end() ? std::vector<size_t>{sink->second} : next.linear;
    for (size_t k = 0; k < next.operands.size(); ++k) {
      if (next.operands[k] == number && std::find(sums.begin(), sums.end(), k) == sums.end()) return false;
    }
    return true;
  });
}

PredictedProgram::Waiting PredictedProgram::waiting(const Sinks& sinks) const {
  Waiting result{std::vector<char>(steps_.size(), false), std::vector<char>(steps_.size(), false)};
  for (auto number = static_cast<int32_t>(steps_.size()); number-- > 0;)
    result.absorbed[static_cast<size_t>(number)] = goes_into_sums(number, sinks, result.absorbed);
  for (size_t number = 0; number < steps_.size(); ++number) {
    const PredictedStep& one = steps_[number];
    const bool linear = std::all_of(one.collectives.begin(), one.collectives.end(), is_linear);
    result.above[number] = result.absorbed[number] && linear && (!one.collectives.empty() || is_above(one, result));
  }
  return result;
}

bool PredictedProgram::is_above(const PredictedStep& one, const Waiting& waiting) {
  return std::any_of(one.linear.begin(), one.linear.end(),
                     [&](size_t k) { return waiting.above[static_cast<size_t>(one.operands[k])] != 0; });
}

void PredictedProgram::find_leaves(int32_t number, int64_t sum_factor, const Deferral& deferral,
                                   std::set<int32_t>& seen, std::vector<Deferral::Leaf>& leaves) const {
  if (!seen.insert(number).second) return;
  const PredictedStep& one = step(number);
  for (const PredictedCollective& collective : one.collectives)
    sum_factor = std::max(sum_factor, collective.sum_factor);
  if (deferral.replayed[static_cast<size_t>(number)] != 0) {
    for (const size_t k : one.linear) find_leaves(one.operands[k], sum_factor, deferral, seen, leaves);
    return;
  }
  int64_t bytes = one.result.bytes;
  if (deferral.waits[static_cast<size_t>(number)] != 0) {
    const PredictedCollective& first = one.collectives.front();
    bytes = first.bytes / (first.kind == hlo::Opcode::kAllGather ? size(first.axes) : 1);
  }
  leaves.push_back({number, sum_factor * bytes});
}

Deferral PredictedProgram::deferral(const std::vector<char>& which) const {
  Deferral result;
  const Waiting waits = waiting(sinks(which));
  result.waits = waits.above;
  for (size_t number = 0; number < steps_.size(); ++number)
    result.replayed.push_back(waits.above[number] && is_above(steps_[number], waits));
  for (const Accumulation& one : accumulations_) {
    const int32_t addend = step(one.step).operands[kAddend];
    result.leaves.emplace_back();
    std::set<int32_t> seen;
    if (result.waits[static_cast<size_t>(addend)] != 0) find_leaves(addend, 1, result, seen, result.leaves.back());
  }
  return result;
}

std::vector<std::optional<int64_t>> PredictedProgram::bytes_of_deferring(const std::vector<char>& which) const {
  const Deferral deferred = deferral(which);
  std::vector<std::optional<int64_t>> result;
  std::set<int32_t> seen;
  for (size_t k = 0; k < accumulations_.size(); ++k) {
    result.emplace_back();
    if (deferred.leaves[k].empty()) continue;
    int64_t bytes = 0;
    for (const Deferral::Leaf& leaf : deferred.leaves[k]) bytes += seen.insert(leaf.step).second ? leaf.bytes : 0;
    result.back() = bytes - accumulations_[k].bytes;
  }
  return result;
}

}  // namespace alpa::planner
