#include "alpa/planner/intra/predicted_program.h"

#include <algorithm>

#include "alpa/hlo/independent_groups.h"

namespace alpa::planner {
namespace {

std::vector<int> without(const std::vector<int>& axes, const std::vector<int>& other) {
  std::vector<int> result;
  for (const int axis : axes) {
    if (std::find(other.begin(), other.end(), axis) == other.end()) result.push_back(axis);
  }
  return result;
}

}  // namespace

std::string PredictedCollective::key() const {
  std::string key = std::string(hlo::name(kind)) + ":" + operands + "@" + std::to_string(computation) + "x" +
                    std::to_string(executions);
  for (const int axis : axes) key += "," + std::to_string(axis);
  return key;
}

int32_t PredictedProgram::add_step(StepRole role, std::vector<int32_t> operands, std::vector<size_t> linear,
                                   StepResult result) {
  const auto number = static_cast<int32_t>(steps_.size());
  for (const int32_t operand : operands) {
    use(operand);
    step(operand).users.push_back(number);
  }
  PredictedStep added;
  added.role = role;
  added.operands = std::move(operands);
  added.linear = std::move(linear);
  added.result = result;
  steps_.push_back(std::move(added));
  return number;
}

int32_t PredictedProgram::add_slice(int32_t operand, int dim, std::vector<int> axes, StepResult result) {
  const int32_t number = add_step(StepRole::kSlice, {operand}, {0}, result);
  steps_.back().slice_dim = dim;
  steps_.back().slice_axes = std::move(axes);
  return number;
}

int32_t PredictedProgram::add_collective(PredictedCollective collective, int32_t operand, StepResult result) {
  result.opcode = hlo::Opcode::kBitcast;
  const int32_t number = add_step(StepRole::kCollective, {operand}, {0}, result);
  if (collective.kind == hlo::Opcode::kAllReduce) std::sort(collective.axes.begin(), collective.axes.end());
  steps_.back().collectives.push_back(std::move(collective));
  return number;
}

int32_t PredictedProgram::add_copy(const PredictedStep& one, std::vector<int32_t> operands) {
  const int32_t number = add_step(one.role, std::move(operands), one.linear, one.result);
  steps_.back().slice_dim = one.slice_dim;
  steps_.back().slice_axes = one.slice_axes;
  steps_.back().collectives = one.collectives;
  steps_.back().from_zeros = one.from_zeros;
  steps_.back().stacked = one.stacked;
  return number;
}

int64_t PredictedProgram::size(const std::vector<int>& axes) const {
  int64_t result = 1;
  for (const int axis : axes) result *= mesh_.size(axis);
  return result;
}

void PredictedProgram::run_passes() {
  merge_all_gathers();
  merge_all_reduces();
  form_reduce_scatters();
  combine();
}

// The first slices on all ways from `value`; false if a way leads elsewhere.
bool PredictedProgram::first_slices(int32_t value, Slices& slices) {
  const PredictedStep& one = step(value);
  if (one.users.empty() || one.uses != static_cast<int64_t>(one.users.size())) return false;
  for (const int32_t user : one.users) {
    const PredictedStep& next = step(user);
    if (next.role == StepRole::kSlice && next.collectives.empty()) {
      slices.first.push_back(user);
      continue;
    }
    slices.between.push_back(user);
    if ((next.role != StepRole::kMove && next.role != StepRole::kConvert) || !next.collectives.empty() ||
        !first_slices(user, slices))
      return false;
  }
  return true;
}

// A slice and those that follow it at once, of the same dim: slices of one dim by several axes.
std::vector<int32_t> PredictedProgram::slices_from(int32_t slice) {
  std::vector<int32_t> chain{slice};
  for (;;) {
    const PredictedStep& last = step(chain.back());
    if (last.users.size() != 1 || last.uses != 1) return chain;
    const PredictedStep& next = step(last.users.front());
    if (next.role != StepRole::kSlice || next.slice_dim != last.slice_dim) return chain;
    chain.push_back(last.users.front());
  }
}

// Whether the dim that is cut is not the outermost where the sum is made; a transposition on the way is taken to be one
// of two dims.
bool PredictedProgram::cuts_inner(int32_t reduce, const Slices& slices) {
  if (step(slices.first.front()).stacked) return true;
  int32_t at = step(slices.first.front()).operands.front();
  bool outermost = step(slices.first.front()).slice_dim == 0;
  for (; at != reduce; at = step(at).operands.front()) {
    if (step(at).result.opcode == hlo::Opcode::kTranspose) outermost = !outermost;
  }
  return !outermost;
}

// The all-reduce at the end of a step, by what each device keeps of it.
void PredictedProgram::scatter(int32_t reduce, const std::vector<int>& axes, bool inner) {
  PredictedStep& one = step(reduce);
  const PredictedCollective whole = one.collectives.back();
  const std::vector<int> outside = without(axes, whole.axes);
  const std::vector<int> scattered = without(axes, outside);
  const std::vector<int> left = without(whole.axes, scattered);
  one.collectives.pop_back();
  if (!scattered.empty()) {
    one.collectives.push_back(whole);
    one.collectives.back().kind = hlo::Opcode::kReduceScatter;
    one.collectives.back().bytes = whole.bytes / size(outside);
    one.collectives.back().axes = scattered;
    one.collectives.back().rearranged = inner;
  }
  if (!left.empty()) {
    one.collectives.push_back(whole);
    one.collectives.back().bytes = whole.bytes / size(axes);
    one.collectives.back().axes = left;
  }
}

bool PredictedProgram::form(int32_t reduce) {
  const PredictedStep& one = step(reduce);
  if (one.collectives.empty() || one.collectives.back().kind != hlo::Opcode::kAllReduce) return false;
  Slices slices;
  if (!first_slices(reduce, slices)) return false;
  std::vector<std::vector<int32_t>> chains;
  std::vector<std::vector<int>> axes;
  for (const int32_t slice : slices.first) {
    chains.push_back(slices_from(slice));
    axes.emplace_back();
    for (const int32_t link : chains.back())
      axes.back().insert(axes.back().end(), step(link).slice_axes.begin(), step(link).slice_axes.end());
  }
  if (std::any_of(axes.begin(), axes.end(), [&](const auto& other) { return other != axes.front(); })) return false;
  scatter(reduce, axes.front(), cuts_inner(reduce, slices));
  for (const auto& chain : chains) {
    for (const int32_t link : chain) {  // it is done
      step(link).role = StepRole::kMove;
      step(link).result.opcode = hlo::Opcode::kBitcast;
    }
  }
  for (const int32_t move : slices.between) {
    step(move).result.bytes /= size(axes.front());
    step(move).result.elements /= size(axes.front());
  }
  return true;
}

// As passes::reduce_scatter_forming: what is left of an all-reduce may be sliced again, along another dim.
void PredictedProgram::form_reduce_scatters() {
  for (int32_t number = 0; number < static_cast<int32_t>(steps_.size()); ++number) {
    while (form(number)) {
    }
  }
}

// As passes::combine_collectives.
void PredictedProgram::combine() {
  std::vector<std::vector<int32_t>> operands;
  std::vector<hlo::Candidate> candidates;
  std::vector<PredictedMember> all;
  std::vector<int32_t> last(steps_.size());  // node of each step's result
  for (size_t number = 0; number < steps_.size(); ++number) {
    operands.emplace_back();
    for (const int32_t operand : steps_[number].operands) operands.back().push_back(last[static_cast<size_t>(operand)]);
    for (const PredictedCollective& one : steps_[number].collectives) {
      operands.push_back({static_cast<int32_t>(operands.size()) - 1});
      candidates.push_back({static_cast<int64_t>(operands.size()) - 1, one.key(),
                            hlo::combined_weight(one.kind, one.bytes, one.rearranged)});
      all.push_back({static_cast<int32_t>(number), static_cast<int32_t>(&one - steps_[number].collectives.data())});
    }
    last[number] = static_cast<int32_t>(operands.size()) - 1;
  }
  for (const auto& group : hlo::independent_groups(operands, candidates, hlo::kCombinedBytes)) {
    const bool together = collective(all[static_cast<size_t>(group.front())]).kind !=
                          hlo::Opcode::kCollectivePermute;  // which the pass leaves alone
    for (const int64_t member : group) {
      if (member == group.front() || !together) groups_.emplace_back();
      groups_.back().push_back(all[static_cast<size_t>(member)]);
    }
  }
}

std::map<std::string, plan::CollectiveCount> PredictedProgram::totals() const {
  std::map<std::string, plan::CollectiveCount> totals;
  for (const auto& group : groups_) {
    const PredictedCollective& first = collective(group.front());
    plan::CollectiveCount& total = totals[std::string(hlo::name(first.kind))];
    total.count += first.executions;
    for (const PredictedMember& member : group)
      total.bytes += first.executions * static_cast<double>(collective(member).bytes);
  }
  return totals;
}

}  // namespace alpa::planner
