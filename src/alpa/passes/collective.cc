#include "alpa/passes/collective.h"

#include <algorithm>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/reducer.h"

namespace alpa::passes {

using hlo::Opcode;

std::optional<Collective> collective(const hlo::Module& module, const hlo::Rewrite& rewrite, hlo::InstructionId id,
                                     int64_t num_devices) {
  const hlo::Instruction& one = rewrite[id];
  const bool reduces = one.opcode == Opcode::kAllReduce || one.opcode == Opcode::kReduceScatter;
  if (!reduces && one.opcode != Opcode::kAllGather && one.opcode != Opcode::kAllToAll) return std::nullopt;
  if (one.operands.size() != 1 || !one.shape.is_array() || rewrite.is_ordered(id)) return std::nullopt;
  if (one.shape.dtype != rewrite[one.operands[0]].shape.dtype) return std::nullopt;
  Collective result;
  result.opcode = one.opcode;
  if (reduces) {
    result.reduction = hlo::reducer_opcode(module.computation(one.called.at(0)));
    if (!result.reduction) return std::nullopt;
  }
  if (one.opcode != Opcode::kAllReduce) {
    const std::vector<int64_t> dims = hlo::dimensions(one);
    if (dims.size() != 1 || dims[0] < 0 || dims[0] >= one.shape.rank()) return std::nullopt;
    result.dim = dims[0];
  }
  auto groups = hlo::replica_groups(one, num_devices);
  if (!groups) return std::nullopt;
  result.groups = *std::move(groups);
  if (one.opcode == Opcode::kAllReduce) {  // whose members all get the same
    for (auto& group : result.groups) std::sort(group.begin(), group.end());
  }
  std::sort(result.groups.begin(), result.groups.end());
  return result;
}

std::string kind_key(const Collective& collective, tensor::DType dtype) {
  std::string key(hlo::name(collective.opcode));
  if (collective.reduction) key += ":" + std::string(hlo::name(*collective.reduction));
  key += ":" + std::string(tensor::name(dtype));
  for (const auto& group : collective.groups) {
    key += ';';
    for (const int64_t device : group) key += std::to_string(device) + ',';
  }
  return key;
}

}  // namespace alpa::passes
