#pragma once

#include <cstdint>
#include <vector>

#include "alpa/hlo/module.h"

namespace alpa::hlo {

/// How long values live and how much memory that takes, if instructions run in the order they stand in.
struct Liveness {
  /// For each instruction the last one that reads any array of its value, through tuples too; itself if none does, and
  /// the number of instructions for what outlives the computation: its parameters and what its root holds.
  std::vector<InstructionId> last_use;
  int64_t peak_bytes = 0;       ///< Most bytes alive at once.
  InstructionId peak_at = 0;    ///< The first instruction at which they are.
  int64_t parameter_bytes = 0;  ///< Part of the peak: the parameters.
};

/// Liveness of a computation. Every array has memory of its own from the instruction that makes it to its last use;
/// tuples, their elements, bitcasts, barriers and loops (whose result lies where the operand lay) have none. While an
/// instruction runs, what its callees need beyond their parameters is alive too. XLA shares and reuses more, so this is
/// an estimate from above, but for fused values and temporary buffers of its own, which it does not know. Units: bytes.
/// Cost: O(instructions and arrays of tuples, of the callees too).
Liveness liveness(const Module& module, const Computation& computation);

}  // namespace alpa::hlo
