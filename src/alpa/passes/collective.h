#pragma once

#include <optional>
#include <string>

#include "alpa/hlo/replica_groups.h"
#include "alpa/hlo/rewrite.h"

namespace alpa::passes {

/// A collective that the passes understand: synchronous, of one array, its groups and its reduction known, without
/// control dependencies. What is none of these is left alone.
struct Collective {
  hlo::Opcode opcode = hlo::Opcode::kAllReduce;  ///< all-reduce, all-gather, reduce-scatter or all-to-all
  hlo::ReplicaGroups groups;
  std::optional<hlo::Opcode> reduction;  ///< Binary operation of an all-reduce or a reduce-scatter.
  std::optional<int64_t> dim;            ///< Of the others than the all-reduce.

  int64_t group_size() const { return static_cast<int64_t>(groups.front().size()); }
  bool is_sum() const { return reduction == hlo::Opcode::kAdd; }
};

std::optional<Collective> collective(const hlo::Module& module, const hlo::Rewrite& rewrite, hlo::InstructionId id,
                                     int64_t num_devices);

/// Text that is equal for collectives of one kind, groups, reduction and element type.
std::string kind_key(const Collective& collective, tensor::DType dtype);

}  // namespace alpa::passes
