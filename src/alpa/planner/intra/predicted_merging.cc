// Which collectives of a predicted program become one; the same rules as passes/merge_all_gathers.h and
// passes/merge_all_reduces.h, on steps.

#include <algorithm>

#include "alpa/planner/intra/predicted_program.h"

namespace alpa::planner {

// The axes of one dim are given up from the minor-most on, so that the tiles come in the order of the axes.
void PredictedProgram::merge_all_gathers() {
  for (PredictedStep& one : steps_) {
    if (one.role != StepRole::kCollective || one.collectives.size() != 1) continue;
    const int32_t operand = one.operands.front();
    if (step(operand).role != StepRole::kCollective || step(operand).uses != 1) continue;
    PredictedCollective& second = one.collectives.back();
    const PredictedCollective first = step(operand).collectives.back();
    if (second.kind != hlo::Opcode::kAllGather || first.kind != hlo::Opcode::kAllGather || second.gathered_dim < 0 ||
        first.gathered_dim != second.gathered_dim || first.computation != second.computation ||
        first.executions != second.executions)
      continue;
    take_last_collective(operand);
    second.axes.insert(second.axes.end(), first.axes.begin(), first.axes.end());
  }
}

void PredictedProgram::merge_all_reduces() {
  while (merge_once()) {
  }
}

bool PredictedProgram::is_absorbed(int32_t number, const std::vector<Addends>& results) const {
  return step(number).uses == 1 && !results[static_cast<size_t>(number)].reduces.empty();
}

// Of what the step's operation makes, before its own collectives; `results`: of the steps before it.
PredictedProgram::Addends PredictedProgram::addends(int32_t number, const std::vector<Addends>& results) const {
  const PredictedStep& one = step(number);
  const auto from = std::find_if(one.operands.begin(), one.operands.end(),
                                 [&](int32_t operand) { return is_absorbed(operand, results); });
  if (from == one.operands.end()) return {};
  Addends sum = results[static_cast<size_t>(*from)];
  switch (one.role) {
    case StepRole::kScale: return sum;
    case StepRole::kMove:
      if (sum.axes.empty() || one.result.opcode == hlo::Opcode::kNegate) return sum;
      // Taken to be a transposition of two dims; a reshape of a part may be none of the whole.
      if (one.result.opcode != hlo::Opcode::kTranspose || one.stacked || sum.dim > 1) return {};
      sum.dim = 1 - sum.dim;
      return sum;
    case StepRole::kSlice:
      if (!sum.axes.empty() && sum.dim != one.slice_dim) return {};
      sum.dim = one.slice_dim;
      sum.axes.insert(sum.axes.end(), one.slice_axes.begin(), one.slice_axes.end());
      return sum;
    case StepRole::kSum: {
      if (one.operands.size() != 2) return {};
      if (!is_absorbed(one.operands[0], results) || !is_absorbed(one.operands[1], results)) return {};
      const Addends& other = results[static_cast<size_t>(one.operands[1])];
      if (sum.axes != other.axes || sum.dim != other.dim ||
          step(sum.reduces.front()).collectives.back().key() != step(other.reduces.front()).collectives.back().key())
        return {};
      sum.reduces.insert(sum.reduces.end(), other.reduces.begin(), other.reduces.end());
      return sum;
    }
    default: return {};
  }
}

// Sums of all-reduced values that nothing else uses are added up first.
bool PredictedProgram::merge_once() {
  std::vector<Addends> made(steps_.size());
  std::vector<Addends> results(steps_.size());  // the same after the step's own collectives
  for (int32_t number = 0; number < static_cast<int32_t>(steps_.size()); ++number) {
    const PredictedStep& one = step(number);
    made[static_cast<size_t>(number)] = addends(number, results);
    Addends& last = results[static_cast<size_t>(number)];
    if (one.collectives.empty()) {
      last = made[static_cast<size_t>(number)];
    } else if (one.collectives.back().kind == hlo::Opcode::kAllReduce && one.collectives.back().is_sum) {
      last = {{number}};
    }
  }
  // From the last on: what a later sum takes in is gone when its own turn comes.
  bool merged = false;
  std::vector<char> gone(steps_.size(), false);
  for (int32_t number = static_cast<int32_t>(steps_.size()); number-- > 0;) {
    const Addends& sum = made[static_cast<size_t>(number)];
    if (step(number).role != StepRole::kSum || sum.reduces.size() < 2 ||
        gone[static_cast<size_t>(sum.reduces.front())] != 0)
      continue;
    for (const int32_t term : sum.reduces) gone[static_cast<size_t>(term)] = true;
    sum_after(number, sum, results);
    merged = true;
  }
  return merged;
}

// The all-reduces of the addends fall away, and one comes after the step; of which it keeps what it kept of them.
void PredictedProgram::sum_after(int32_t number, const Addends& sum, const std::vector<Addends>& results) {
  const PredictedCollective one = step(sum.reduces.front()).collectives.back();
  make_whole(number, size(sum.axes), results);
  for (const int32_t term : sum.reduces) take_last_collective(term);
  std::vector<PredictedCollective>& after = step(number).collectives;
  const std::vector<PredictedCollective> later = std::move(after);
  after = {one};
  if (!sum.axes.empty()) scatter(number, sum.axes, sum.dim != 0);
  after.insert(after.end(), later.begin(), later.end());
}

// `parts`: how many times as large it becomes without the slices that come before it.
void PredictedProgram::make_whole(int32_t number, int64_t parts, const std::vector<Addends>& results) {
  if (parts == 1) return;
  PredictedStep& one = step(number);
  one.result.bytes *= parts;
  one.result.elements *= parts;
  if (one.role == StepRole::kSlice) {
    parts /= size(one.slice_axes);
    one.role = StepRole::kMove;
    one.result.opcode = hlo::Opcode::kBitcast;
  }
  for (const int32_t operand : one.operands) {
    if (is_absorbed(operand, results)) make_whole(operand, parts, results);
  }
}

// A step that was nothing but a collective hands its operand on then.
void PredictedProgram::take_last_collective(int32_t number) {
  PredictedStep& one = step(number);
  one.collectives.pop_back();
  if (one.collectives.empty() && one.role == StepRole::kCollective) one.role = StepRole::kMove;
}

}  // namespace alpa::planner
