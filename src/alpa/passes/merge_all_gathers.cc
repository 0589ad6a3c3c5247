#include "alpa/passes/merge_all_gathers.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "alpa/hlo/edit.h"
#include "alpa/passes/collective.h"

namespace alpa::passes {
namespace {

using hlo::InstructionId;
using hlo::Opcode;
using hlo::ReplicaGroups;
using hlo::Rewrite;

/// By device, the members of its group.
std::vector<std::vector<int64_t>> groups_by_device(const ReplicaGroups& groups, int64_t num_devices) {
  std::vector<std::vector<int64_t>> result(static_cast<size_t>(num_devices));
  for (const auto& group : groups) {
    for (const int64_t device : group) result[static_cast<size_t>(device)] = group;
  }
  return result;
}

/// The groups of one all-gather that does as `first` and then `second`: what a device has after both is the tiles that
/// the members of its second group had gathered, in their order. Nothing if those who share tiles do not have the same
/// ones in the same order, or have one of them twice.
std::optional<ReplicaGroups> one_after_another(const ReplicaGroups& first, const ReplicaGroups& second,
                                               int64_t num_devices) {
  const auto gathered = groups_by_device(first, num_devices);
  std::vector<std::vector<int64_t>> tiles(static_cast<size_t>(num_devices));
  for (const auto& group : second) {
    std::vector<int64_t> together;
    for (const int64_t device : group) {
      const auto& more = gathered[static_cast<size_t>(device)];
      together.insert(together.end(), more.begin(), more.end());
    }
    for (const int64_t device : group) tiles[static_cast<size_t>(device)] = together;
  }
  ReplicaGroups result;
  std::vector<char> placed(static_cast<size_t>(num_devices), false);
  for (size_t device = 0; device < tiles.size(); ++device) {
    if (placed[device] != 0) continue;
    for (const int64_t member : tiles[device]) {
      if (placed[static_cast<size_t>(member)] != 0 || tiles[static_cast<size_t>(member)] != tiles[device])
        return std::nullopt;
      placed[static_cast<size_t>(member)] = true;
    }
    if (placed[device] == 0) return std::nullopt;
    result.push_back(tiles[device]);
  }
  return result;
}

class Merger {
 public:
  Merger(const hlo::Module& module, Rewrite& rewrite, hlo::FreshNames& names, int64_t num_devices)
      : module_(module), rewrite_(rewrite), names_(names), num_devices_(num_devices) {}

  void run() {
    // What is made of two is added at the end, and may follow a third.
    for (InstructionId id = 0; id < rewrite_.size(); ++id) {
      if (rewrite_[id].opcode == Opcode::kAllGather && is_used(id)) merge(id);
    }
  }

 private:
  bool is_used(InstructionId id) const { return rewrite_.use_count(id) > 0; }

  // What `id` gathers, behind copies, if it is an all-gather that nothing else uses.
  std::optional<InstructionId> gathered_before(InstructionId id) const {
    InstructionId value = rewrite_[id].operands.at(0);
    while (rewrite_[value].opcode == Opcode::kCopy && rewrite_.use_count(value) == 1 && !rewrite_.is_ordered(value))
      value = rewrite_[value].operands.at(0);
    if (rewrite_[value].opcode != Opcode::kAllGather || rewrite_.use_count(value) != 1) return std::nullopt;
    return value;
  }

  void merge(InstructionId id) {
    const auto second = collective(module_, rewrite_, id, num_devices_);
    const auto before = second ? gathered_before(id) : std::nullopt;
    const auto first = before ? collective(module_, rewrite_, *before, num_devices_) : std::nullopt;
    if (!first || first->dim != second->dim || hlo::channel_id(rewrite_[id]) == 0) return;
    const auto groups = one_after_another(first->groups, second->groups, num_devices_);
    if (!groups) return;
    hlo::Instruction merged =
        hlo::clone(rewrite_[id], names_.name("all-gather.merged"), {rewrite_[*before].operands.at(0)});
    hlo::set_replica_groups(merged, *groups);
    rewrite_.replace_uses(id, rewrite_.add(std::move(merged)));
  }

  const hlo::Module& module_;
  Rewrite& rewrite_;
  hlo::FreshNames& names_;
  int64_t num_devices_;
};

}  // namespace

hlo::Module merge_all_gathers(const hlo::Module& module, int64_t num_devices) {
  return hlo::rewrite_computations(
      module, [&](Rewrite& rewrite, hlo::FreshNames& names) { Merger(module, rewrite, names, num_devices).run(); });
}

}  // namespace alpa::passes
