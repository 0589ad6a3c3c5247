#pragma once

#include "alpa/compiler/compile.h"

namespace alpa::compiler {

/// A part of a step with micro-batches, with its part of the plan: a program and a plan like any other.
struct PlannedPart {
  Program program;
  plan::Plan plan;
  std::vector<int> step_inputs;  ///< Its first parameters: these inputs of the step.
};
struct PlannedParts {
  PlannedPart accumulate;
  PlannedPart apply;
};

/// Splits a step with micro-batches and its plan, which fits it.
PlannedParts planned_parts(const Program& program, const plan::Plan& plan);

/// compile() of a step with micro-batches, of which `plan` is known to be: both parts, then put together. The plan's
/// deferred sums are communicated once a step (passes::defer_sums).
Compiled compile_accumulated(const Program& program, const plan::Plan& plan, std::vector<std::optional<int>> feeds,
                             const pjrt::Client& client, const CompileRequest& request);

}  // namespace alpa::compiler
