#pragma once

#include <vector>

#include "alpa/hlo/module.h"
#include "alpa/passes/accumulation.h"

namespace alpa::passes {

/// One of the two programs of a step with accumulation.
struct StepPart {
  hlo::Module module;
  std::vector<int> step_inputs;  ///< Its first parameters: these inputs of the step.
};

/// - `accumulate` runs once a micro-batch. Parameters: inputs of the step that gradients need, the flag of the first
///   micro-batch, accumulators. Outputs: accumulators, whose memory they take, then values of this micro-batch.
/// - `apply` runs once a step. Parameters: inputs of the step that what follows the gradients needs or takes the memory
///   of, accumulators, values of the last micro-batch. Outputs: the step's.
/// What depends on neither batch nor gradients and is needed by both is computed in both. Instructions keep their
/// names, so that a plan of the whole is one of each part; parameters of `apply` that stand for sums have the names of
/// the accumulators.
struct SplitAccumulation {
  StepPart accumulate;
  StepPart apply;
};

/// `module`: as write_accumulation leaves it, calls inlined.
SplitAccumulation split_accumulation(const hlo::Module& module, const Accumulation& layout);

/// How often an instruction of the whole program's entry runs in a step; 0 for what nothing needs.
std::vector<double> executions_in_parts(const hlo::Module& module, const Accumulation& layout);

}  // namespace alpa::passes
