#pragma once

#include "alpa/compiler/program.h"

namespace alpa::compiler {

/// Makes a program with gradient markers, just read, the step of one of `micro_batches` parts of a batch.
/// Errors: InvalidArgumentError if no input is known to be a batch, or one is fed by an output; those of
/// passes::write_accumulation.
void accumulate(Program& program, int64_t micro_batches, const passes::PassObserver& observer);

/// Gives a program the graph of values of its module: what runs once a micro-batch is executed so often.
void build_graph(Program& program);

}  // namespace alpa::compiler
