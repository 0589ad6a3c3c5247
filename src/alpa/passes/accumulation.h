#pragma once

#include <cstdint>

namespace alpa::passes {

/// Where a program with gradient accumulation written out (write_accumulation) has what it adds to the step's own
/// inputs and outputs.
/// - Parameters: the step's, then a flag that says whether this is the step's first micro-batch, then the accumulators.
/// - Outputs: the step's, then the accumulators' new values, then values of this micro-batch that are not averaged.
struct Accumulation {
  int64_t micro_batches = 1;
  int64_t num_inputs = 0;   ///< Of the step.
  int64_t num_outputs = 0;  ///< Of the step.
  int64_t num_accumulators = 0;
  int64_t num_latest = 0;  ///< Values that are the last micro-batch's.

  int64_t flag() const { return num_inputs; }
  int64_t accumulator(int64_t k) const { return num_inputs + 1 + k; }
  int64_t accumulated(int64_t k) const { return num_outputs + k; }
  int64_t latest(int64_t k) const { return num_outputs + num_accumulators + k; }
};

}  // namespace alpa::passes
