#include "alpa/passes/drop_dead_collectives.h"

#include <map>

#include "alpa/passes/collective.h"
#include "alpa/passes/partition_values.h"

namespace alpa::passes {
namespace {

using hlo::InstructionId;
using hlo::Opcode;
using hlo::Rewrite;

InstructionId behind_copies(const Rewrite& rewrite, InstructionId id) {
  while (rewrite[id].opcode == Opcode::kCopy) id = rewrite[id].operands.at(0);
  return id;
}

/// By device, its place in its group.
std::vector<int64_t> ranks(const hlo::ReplicaGroups& groups, int64_t num_devices) {
  std::vector<int64_t> result(static_cast<size_t>(num_devices), 0);
  for (const auto& group : groups) {
    for (size_t k = 0; k < group.size(); ++k) result[static_cast<size_t>(group[k])] = static_cast<int64_t>(k);
  }
  return result;
}

class Dropper {
 public:
  Dropper(const hlo::Module& module, Rewrite& rewrite, int64_t num_devices)
      : module_(module), rewrite_(rewrite), num_devices_(num_devices), values_(rewrite, num_devices) {}

  void run() {
    for (InstructionId id = 0; id < rewrite_.size(); ++id) {
      if (rewrite_[id].opcode == Opcode::kCollectivePermute) drop_idle_permute(id);
      const auto one = collective(module_, rewrite_, id, num_devices_);
      if (!one) continue;
      const InstructionId operand = rewrite_[id].operands[0];
      if (one->group_size() == 1) {
        rewrite_.replace_uses(id, operand);
        continue;
      }
      std::string key = kind_key(*one, rewrite_[id].shape.dtype) + tensor::to_string(rewrite_[id].shape);
      if (one->dim) key += "@" + std::to_string(*one->dim);
      key += " " + std::to_string(behind_copies(rewrite_, operand));
      const auto [first, fresh] = seen_.try_emplace(std::move(key), id);
      if (!fresh) {
        rewrite_.replace_uses(id, first->second);
      } else if (one->opcode == Opcode::kAllGather) {
        take_back(id, id, *one);
      }
    }
  }

 private:
  void drop_idle_permute(InstructionId id) {
    const auto pairs = hlo::source_target_pairs(rewrite_[id]);
    const bool idle =
        std::all_of(pairs.begin(), pairs.end(), [](const auto& pair) { return pair.first == pair.second; });
    if (!idle || static_cast<int64_t>(pairs.size()) != num_devices_ || rewrite_.is_ordered(id)) return;
    if (hlo::channel_id(rewrite_[id]) == 0 || rewrite_[id].operands.size() != 1) return;
    rewrite_.replace_uses(id, rewrite_[id].operands[0]);
  }

  // Looks for the slices of `value`, which is the gathered array or a copy of it.
  void take_back(InstructionId value, InstructionId gather, const Collective& one) {
    for (const InstructionId user : rewrite_.users(value)) {
      if (rewrite_[user].opcode == Opcode::kCopy) take_back(user, gather, one);
      if (rewrite_[user].opcode == Opcode::kDynamicSlice && rewrite_[user].operands[0] == value &&
          gives_back(user, gather, one))
        rewrite_.replace_uses(user, rewrite_[gather].operands[0]);
    }
  }

  bool gives_back(InstructionId slice, InstructionId gather, const Collective& one) {
    const tensor::Shape& part = rewrite_[rewrite_[gather].operands[0]].shape;
    if (rewrite_.is_ordered(slice) || !(rewrite_[slice].shape == part)) return false;
    const auto dim = static_cast<size_t>(*one.dim);
    // Dims that are taken whole begin at 0, whatever the offset says.
    const auto starts = values_.scalar(rewrite_[slice].operands.at(1 + dim));
    if (!starts) return false;
    const std::vector<int64_t> places = ranks(one.groups, num_devices_);
    for (size_t device = 0; device < places.size(); ++device) {
      if ((*starts)[device] != places[device] * part.dims[dim]) return false;
    }
    return true;
  }

  const hlo::Module& module_;
  Rewrite& rewrite_;
  int64_t num_devices_;
  PartitionValues values_;
  std::map<std::string, InstructionId> seen_;
};

}  // namespace

hlo::Module drop_dead_collectives(const hlo::Module& module, int64_t num_devices) {
  return hlo::rewrite_computations(
      module, [&](Rewrite& rewrite, hlo::FreshNames&) { Dropper(module, rewrite, num_devices).run(); });
}

}  // namespace alpa::passes
