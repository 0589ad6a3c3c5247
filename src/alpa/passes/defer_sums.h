#pragma once

#include "alpa/passes/deferrable_sums.h"

namespace alpa::passes {

/// The two partitioned programs of a step with micro-batches.
struct DeferredStep {
  hlo::Module accumulate;
  hlo::Module apply;
  int64_t num_accumulators = 0;  ///< Outputs of `accumulate` that are accumulators; `apply` takes as many.
};

/// Communicates sums over micro-batches once a step instead of once a micro-batch. Where collectives lie on the way to
/// an accumulator (DeferrableSums), each device accumulates what it puts into them, and `apply` begins with them:
///
///   accumulate: sum = sum + f(all-reduce(part))        becomes   partial = partial + part
///   apply:      ... sum ...                            becomes   ... f(all-reduce(partial)) ...
///
/// An accumulator is then what its device has of the sum, in the shape of `part`, or several such where the way begins
/// with several; accumulators that are made of one part share it. Parts of floats below 32 bits are summed in f32, and
/// their mean goes through the collectives, which keep their element type.
/// `accumulate`, `apply`: partitioned, roots tuples, each accumulator's memory taken by its new value. The same
/// contract holds for what comes out.
DeferredStep defer_sums(const hlo::Module& accumulate, const hlo::Module& apply, const DeferRequest& request);

}  // namespace alpa::passes
