#include "alpa/passes/linear_flow.h"

#include <algorithm>
#include <set>
#include <utility>

#include "alpa/hlo/linear_operands.h"
#include "alpa/passes/collective.h"

namespace alpa::passes {

using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;

LinearFlow::LinearFlow(const hlo::Module& module, const hlo::Rewrite& computation, int64_t num_devices,
                       std::map<InstructionId, size_t> updates)
    : module_(module),
      rewrite_(computation),
      num_devices_(num_devices),
      updates_(std::move(updates)),
      fixed_(hlo::fixed_values(computation.computation())) {
  const auto count = static_cast<size_t>(rewrite_.size());
  absorbed_.assign(count, false);
  gathered_.assign(count, false);
  for (InstructionId id = rewrite_.size(); id-- > 0;) absorbed_[at(id)] = goes_into_sums(id);
  for (InstructionId id = 0; id < rewrite_.size(); ++id) {
    const std::vector<size_t> operands = linear_operands(id);
    gathered_[at(id)] = is_linear_collective(id) || std::any_of(operands.begin(), operands.end(), [&](size_t k) {
                          return is_above(rewrite_[id].operands[k]);
                        });
  }
}

bool LinearFlow::is_linear_collective(InstructionId id) const {
  const Instruction& one = rewrite_[id];
  if (one.opcode == Opcode::kCollectivePermute)
    return one.operands.size() == 1 && one.shape.is_array() && !rewrite_.is_ordered(id);
  const auto known = collective(module_, rewrite_, id, num_devices_);
  return known && (!known->reduction || known->is_sum());
}

std::vector<size_t> LinearFlow::linear_operands(InstructionId id) const {
  if (rewrite_.is_ordered(id)) return {};
  if (is_linear_collective(id)) return {0};
  return hlo::linear_operands(module_, rewrite_.computation(), id, fixed_);
}

bool LinearFlow::goes_into_sums(InstructionId id) const {
  if (rewrite_.use_count(id) == 0 || rewrite_.computation().root == id) return false;
  for (const InstructionId user : rewrite_.users(id)) {
    const Instruction& one = rewrite_[user];
    std::vector<size_t> positions;
    if (const auto update = updates_.find(user); update != updates_.end()) {
      positions = {update->second};
    } else if (is_absorbed(user)) {
      positions = linear_operands(user);
    }
    for (size_t k = 0; k < one.operands.size(); ++k) {
      if (one.operands[k] == id && std::find(positions.begin(), positions.end(), k) == positions.end()) return false;
    }
  }
  return true;
}

LinearFlow::Ways LinearFlow::ways(InstructionId above) const {
  Ways result;
  std::set<InstructionId> seen{above};
  std::vector<InstructionId> open{above};
  while (!open.empty()) {
    const InstructionId id = open.back();
    open.pop_back();
    if (!is_above(id)) {
      result.leaves.push_back(id);
      continue;
    }
    result.above.push_back(id);
    const std::vector<size_t> operands = linear_operands(id);
    for (auto k = operands.rbegin(); k != operands.rend(); ++k) {
      if (seen.insert(rewrite_[id].operands[*k]).second) open.push_back(rewrite_[id].operands[*k]);
    }
  }
  return result;
}

}  // namespace alpa::passes
