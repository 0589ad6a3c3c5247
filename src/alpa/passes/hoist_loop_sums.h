#pragma once

#include "alpa/passes/deferrable_sums.h"

namespace alpa::passes {

/// Communicates sums that a loop makes once, after the loop, instead of once a turn. Where collectives lie on the way
/// to an element that the loop only adds to (loop_sums.h), by linear operations, each device adds up what it puts into
/// them, and what was done with them in the body is done with the result:
///
///   body:   sum = sum + f(all-reduce(part))        becomes   partial = partial + part
///   after:  ... sum ...                            becomes   ... init + f(all-reduce(partial)) ...
///
/// `partial` begins as zeros, so that a loop of no turns gives `init`. Sums of floats below 32 bits are made in f32.
/// What is narrower on the way than the sum itself stays, since its own sum may not fit into it.
hlo::Module hoist_loop_sums(const hlo::Module& module, int64_t num_devices);

/// The same for `accumulate` of a step with micro-batches, and besides for arrays that loops of the entry write row by
/// row and that go into accumulators which may be deferred: each device stacks its parts, f is made of all rows at
/// once, and can be deferred then. It communicates as many bytes as row by row, and what a device stacks may be larger
/// than what it keeps of the sums: without micro-batches it stays.
hlo::Module hoist_loop_sums(const hlo::Module& module, const DeferRequest& request);

}  // namespace alpa::passes
