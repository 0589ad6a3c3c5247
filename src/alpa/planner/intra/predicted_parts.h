#pragma once

#include <vector>

#include "alpa/planner/intra/build_device_program.h"
#include "alpa/planner/intra/intra.h"
#include "alpa/planner/intra/predicted_program.h"

namespace alpa::planner {

/// A predicted program that runs by itself.
struct PredictedPart {
  PredictedProgram program;
  ProgramFrame frame;
  std::vector<size_t> step_inputs;  ///< Its first inputs: these of the step.
};
struct PredictedParts {
  PredictedPart accumulate;  ///< Runs once a micro-batch.
  PredictedPart apply;       ///< Runs once a step.
};

/// A step with micro-batches, predicted as one program whose sums are merged (PredictedProgram::merge_all_reduces).
struct PredictedStepOfMicroBatches {
  const PredictedProgram& program;
  const ProgramFrame& frame;
  std::vector<int32_t> held;  ///< By output: the step that something outside wants.
  MicroBatches micro_batches;
};

/// The two programs that it becomes, as passes::split_accumulation and then passes::defer_sums make them: `deferred`,
/// by accumulator of the program, are the sums that wait for the last micro-batch. Collectives' executions are a
/// step's.
PredictedParts predicted_parts(const PredictedStepOfMicroBatches& step, const std::vector<char>& deferred);

}  // namespace alpa::planner
