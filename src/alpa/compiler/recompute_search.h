#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "alpa/compiler/program.h"
#include "alpa/mesh/cluster.h"
#include "alpa/plan/plan.h"
#include "alpa/planner/intra/intra.h"

namespace alpa::compiler {

/// A plan for one mesh and the labelling problem that it answers, if that is to be observed.
struct MeshPlan {
  plan::Plan plan;
  std::optional<planner::AnsweredProblem> answered;
};

/// Plans a program within a memory cap, in bytes a device; nothing made anew. Errors: InfeasibleError that knows the
/// least memory, where memory is the reason.
using PlanWithin = std::function<MeshPlan(const Program& program, int64_t cap_bytes)>;

struct RecomputeSearch {
  const Program& program;
  const mesh::DeviceSpec& device;
  int64_t num_devices = 1;
  int64_t cap_bytes = 0;
  const PlanWithin& plan_within;
};

/// Plans a program within a memory cap, values of its forward pass made anew in its backward pass where it does not fit
/// otherwise, or is cheaper so: the plan names them. Sets of values come from planner::RecomputeChooser; of those whose
/// memory, as it is estimated for the program divided evenly, falls by as much as is missing, the one of least seconds
/// is planned, and what is missing then corrects the estimate.
/// The plan's bound is that of plans that make the same values anew.
/// Errors: InfeasibleError that knows the least memory of what was tried.
MeshPlan plan_recomputing(const RecomputeSearch& search);

}  // namespace alpa::compiler
