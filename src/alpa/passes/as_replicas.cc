#include "alpa/passes/as_replicas.h"

#include "alpa/base/error.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/replica_groups.h"

namespace alpa::passes {
namespace {

using hlo::Instruction;
using hlo::Opcode;

// Ids of partitions, or of devices, become those of replicas: the same numbers.
void make_cross_replica(Instruction& collective) {
  const bool counts_devices = hlo::has_global_ids(collective) ||
                              (hlo::channel_id(collective) != 0 && !hlo::may_have_global_ids(collective.opcode));
  require<UnsupportedError>(counts_devices, "passes", "collective {} is not among partitions", collective.name);
  hlo::clear_channel(collective);
}

}  // namespace

hlo::Module as_replicas(const hlo::Module& partitioned) {
  hlo::Module result = partitioned;
  for (hlo::Computation& computation : result.computations) {
    for (Instruction& instruction : computation.instructions) {
      if (instruction.opcode == Opcode::kPartitionId) instruction.opcode = Opcode::kReplicaId;
      if (hlo::is_collective(instruction.opcode)) make_cross_replica(instruction);
      hlo::set_sharding(instruction, std::nullopt);
    }
  }
  hlo::clear_partitioning(result);
  return result;
}

}  // namespace alpa::passes
