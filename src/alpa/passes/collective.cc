#include "alpa/passes/collective.h"

#include <algorithm>

#include "alpa/hlo/attributes.h"

namespace alpa::passes {
namespace {

using hlo::Opcode;

// The operation of a reducer that applies one to its two parameters.
std::optional<Opcode> binary_operation(const hlo::Computation& reducer) {
  const hlo::Instruction& root = reducer[reducer.root];
  if (root.operands.size() != 2 || reducer.size() != 3) return std::nullopt;
  if (reducer[root.operands[0]].opcode != Opcode::kParameter || reducer[root.operands[1]].opcode != Opcode::kParameter)
    return std::nullopt;
  if (root.operands[0] == root.operands[1] || root.shape.dtype != reducer[root.operands[0]].shape.dtype)
    return std::nullopt;
  switch (root.opcode) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr: return root.opcode;
    default: return std::nullopt;
  }
}

}  // namespace

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
    result.reduction = binary_operation(module.computation(one.called.at(0)));
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
