#include "alpa/planner/remat/recompute.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "alpa/hlo/flops.h"
#include "alpa/hlo/forward_pass.h"
#include "alpa/planner/remat/min_cut.h"

namespace alpa::planner {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;

constexpr double kChain = 2;          // Operations that are made anew to do without one value.
constexpr double kUnitsOfAll = 1e12;  // Units of a cut's costs that making everything anew takes.

// Others' elements, as they lie there or repeated: XLA keeps no memory for them.
bool is_view(const Instruction& instruction) {
  return instruction.opcode == Opcode::kBroadcast || instruction.opcode == Opcode::kReshape ||
         instruction.opcode == Opcode::kBitcast || instruction.opcode == Opcode::kGetTupleElement;
}

double seconds_of(const Computation& entry, const Instruction& instruction, const mesh::DeviceSpec& device) {
  if (hlo::is_contraction(instruction.opcode)) {
    return static_cast<double>(hlo::flops(entry, instruction)) /
           device.flops_for(tensor::name(instruction.shape.dtype));
  }
  double bytes = static_cast<double>(tensor::byte_size(instruction.shape));
  for (const InstructionId operand : instruction.operands)
    bytes += static_cast<double>(tensor::byte_size(entry[operand].shape));
  return bytes / device.memory_bandwidth;
}

}  // namespace

RecomputeChooser::RecomputeChooser(const RecomputeRequest& request) : entry_(request.module.entry_computation()) {
  const auto forward = hlo::forward_pass(request.module);
  if (!forward) return;
  end_ = forward->end;
  find_values(request, *forward);
  find_ratios();
}

void RecomputeChooser::find_values(const RecomputeRequest& request, const hlo::ForwardPass& forward) {
  const std::vector<bool> constant = hlo::constant_values(entry_);
  const auto count = static_cast<size_t>(end_ + 1);
  values_.resize(count);
  for (InstructionId id = entry_.size(); id-- > 0;) {
    const Instruction& one = entry_[id];
    const bool early = forward.of_loss[static_cast<size_t>(id)];  // else for the backward pass alone
    int32_t used = std::min(id, end_);
    if (id <= end_) {
      Value& value = values_[static_cast<size_t>(id)];
      value.allowed = request.allowed[static_cast<size_t>(id)];
      value.given = constant[static_cast<size_t>(id)] || one.opcode == Opcode::kParameter;
      value.view = value.allowed && is_view(one);
      value.bytes = tensor::byte_size(one.shape);
      value.seconds = early && !value.view ? seconds_of(entry_, one, request.device) : 0;
      if (value.view) used = std::max(used, value.last_early);
    }
    for (const InstructionId operand : one.operands) {
      if (operand > end_ || id == entry_.root) continue;
      Value& read = values_[static_cast<size_t>(operand)];
      if (early) read.last_early = std::max(read.last_early, used);
      if (forward.is_backward(id)) read.late = true;
    }
  }
  handed_on_.resize(count);
  for (InstructionId id = 0; id <= end_; ++id) {
    const Value& value = values_[static_cast<size_t>(id)];
    if (value.given || value.view || value.last_early <= id) continue;
    handed_on_[static_cast<size_t>(id)] += value.bytes;
    handed_on_[static_cast<size_t>(value.last_early)] -= value.bytes;
  }
  for (size_t id = 1; id < count; ++id) handed_on_[id] += handed_on_[id - 1];
}

void RecomputeChooser::find_ratios() {
  std::vector<std::pair<double, int64_t>> costs;  // Seconds a byte, bytes.
  int64_t total = 0;
  double all_seconds = 0;
  for (const Value& value : values_) {
    if (!value.allowed || value.view || value.bytes == 0) continue;
    costs.emplace_back(value.seconds / static_cast<double>(value.bytes), value.bytes);
    total += value.bytes;
    all_seconds += value.seconds;
  }
  std::sort(costs.begin(), costs.end());
  for (const double share : {0.25, 0.5, 0.75, 1.0}) {
    int64_t bytes = 0;
    for (const auto& [ratio, size] : costs) {
      bytes += size;
      if (static_cast<double>(bytes) < share * static_cast<double>(total)) continue;
      const double price = kChain * ratio;
      if (price > 0 && (ratios_.empty() || price > ratios_.back())) ratios_.push_back(price);
      break;
    }
  }
  if (!ratios_.empty()) ratios_.push_back(std::max(all_seconds, 2 * ratios_.back()));  // everything is made anew
}

// The last instruction of each segment but the last.
std::vector<int32_t> RecomputeChooser::borders(int segments) const {
  std::vector<int64_t> kept;  // Bytes that wait for the backward pass, up to each instruction.
  int64_t bytes = 0;
  for (const Value& value : values_)
    kept.push_back(bytes += value.late && !value.given && !value.view ? value.bytes : 0);
  std::vector<int32_t> result;
  const auto at = [&](double share) {
    const auto wanted = static_cast<int64_t>(std::ceil(share * static_cast<double>(bytes)));
    return static_cast<int32_t>(std::lower_bound(kept.begin(), kept.end(), wanted) - kept.begin());
  };
  for (int k = 1; k < segments; ++k) {
    const int32_t middle = at(static_cast<double>(k) / segments);
    const int32_t last = std::min(at((k + 0.5) / segments), end_ - 1);
    int32_t best = middle;
    const auto measure = [&](int32_t id) {
      return std::pair(handed_on_[static_cast<size_t>(id)], std::abs(id - middle));
    };
    for (int32_t id = at((k - 0.5) / segments); id <= last; ++id) {
      if (measure(id) < measure(best)) best = id;
    }
    if (best < end_ && (result.empty() || best > result.back())) result.push_back(best);
  }
  return result;
}

Recomputation RecomputeChooser::choose(const RecomputeLevel& level) const {
  const std::vector<int32_t> cuts = borders(level.segments);
  const size_t whole = std::min(static_cast<size_t>(level.recomputed), cuts.size() + 1);
  const int32_t end = whole <= cuts.size() ? (whole == 0 ? -1 : cuts[whole - 1]) : end_;
  const auto is_handed_on = [&](InstructionId id, const Value& value) {
    const auto cut = std::lower_bound(cuts.begin(), cuts.end(), id);
    return cut != cuts.end() && *cut < value.last_early && !value.view;
  };
  double all_seconds = 0;
  for (const Value& value : values_) all_seconds += value.seconds;
  const auto units = [&](double seconds) {
    return std::llround(std::min(2.0, all_seconds > 0 ? seconds / all_seconds : 2.0) * kUnitsOfAll);
  };
  // Two nodes a value, on the source's side: 2k, the backward pass has it; 2k + 1, it has made it anew.
  const auto count = static_cast<int32_t>(values_.size());
  const int32_t source = 2 * count;
  const int32_t sink = source + 1;
  MinCut cut(sink + 1);
  for (InstructionId id = 0; id < count; ++id) {
    const Value& value = values_[static_cast<size_t>(id)];
    if (value.given) continue;
    if (value.late) cut.add_edge(source, 2 * id, MinCut::kUncuttable);
    const int64_t kept = units(level.seconds_per_byte * static_cast<double>(value.bytes));
    cut.add_edge(2 * id, 2 * id + 1, value.view ? MinCut::kUncuttable : kept);
    const bool stays = !value.allowed || (!value.view && (id > end || is_handed_on(id, value)));
    cut.add_edge(2 * id + 1, sink, stays ? MinCut::kUncuttable : units(value.seconds));
    for (const InstructionId operand : entry_[id].operands) {
      if (!values_[static_cast<size_t>(operand)].given) cut.add_edge(2 * id + 1, 2 * operand, MinCut::kUncuttable);
    }
  }
  const std::vector<bool> side = cut.source_side(source, sink);
  std::vector<bool> anew;
  for (InstructionId id = 0; id < count; ++id) anew.push_back(side[static_cast<size_t>(2 * id + 1)]);
  leave_out_views_of_kept(anew);
  Recomputation result;
  for (InstructionId id = 0; id < count; ++id) {
    if (!anew[static_cast<size_t>(id)]) continue;
    result.names.push_back(entry_[id].name);
    result.seconds += values_[static_cast<size_t>(id)].seconds;
  }
  return result;
}

// Views are made anew of what is, and for it: the others are as good as what they show, which is kept.
void RecomputeChooser::leave_out_views_of_kept(std::vector<bool>& anew) const {
  std::vector<bool> stays(anew.size());
  const auto count = static_cast<InstructionId>(anew.size());
  for (InstructionId id = 0; id < count; ++id) {
    const std::vector<InstructionId>& operands = entry_[id].operands;
    const auto shown = [&](InstructionId operand) { return stays[static_cast<size_t>(operand)]; };
    stays[static_cast<size_t>(id)] =
        anew[static_cast<size_t>(id)] &&
        (!values_[static_cast<size_t>(id)].view || std::any_of(operands.begin(), operands.end(), shown));
  }
  for (InstructionId id = count; id-- > 0;) {
    if (!stays[static_cast<size_t>(id)]) continue;
    for (const InstructionId operand : entry_[id].operands) {
      if (anew[static_cast<size_t>(operand)]) stays[static_cast<size_t>(operand)] = true;
    }
  }
  anew = std::move(stays);
}

}  // namespace alpa::planner
