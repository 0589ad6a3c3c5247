#pragma once

#include <vector>

#include "alpa/hlo/rewrite.h"
#include "alpa/passes/linear_flow.h"

namespace alpa::passes {

/// How the parts of a step with micro-batches (split_accumulation) take and give arrays, and which of their sums may
/// wait for the last micro-batch.
struct DeferRequest {
  int64_t num_devices = 1;
  int64_t micro_batches = 1;
  int64_t accumulate_inputs = 0;  ///< First parameters of `accumulate`; the flag and the accumulators follow.
  int64_t apply_inputs = 0;       ///< First parameters of `apply`; the sums and values of the last micro-batch follow.
  std::vector<char> deferred;     ///< By accumulator.
};

/// What an accumulator's part of a partitioned accumulate program is, if communication in it can wait.
struct DeferrableSum {
  /// What is added to the accumulator; -1: there is nothing to defer.
  hlo::InstructionId addend = -1;
  /// What can be summed over micro-batches instead: the addend is made of them, of fixed values and of nothing else, by
  /// operations that are linear in them (hlo/linear_operands.h) and by collectives. Each once, in order of use.
  std::vector<hlo::InstructionId> leaves;
  bool narrow = false;  ///< Whether a leaf or a value that is made of them is a float below 32 bits.
};

/// Finds in `accumulate` the collectives on the way to accumulators that may be deferred: those whose result goes by
/// linear operations into such accumulators and nowhere else. A collective that anything else needs stays, and so does
/// what comes before it. `computation`: of the module's entry, as it is.
class DeferrableSums {
 public:
  DeferrableSums(const hlo::Module& module, const DeferRequest& request);

  const std::vector<DeferrableSum>& by_accumulator() const { return sums_; }
  /// How the entry's values go into accumulators that may be deferred.
  const LinearFlow& flow() const { return flow_; }

 private:
  const hlo::Rewrite entry_;
  std::vector<DeferrableSum> sums_;
  const LinearFlow flow_;
};

}  // namespace alpa::passes
