#pragma once

#include <optional>
#include <vector>

#include "alpa/compiler/plan_program.h"
#include "alpa/planner/intra/intra.h"

namespace alpa::compiler {

/// Placements that a plan on one mesh must have, whoever asks for them: constraints by name, the batch's axis, the
/// program itself.
struct PlacementDemands {
  std::vector<std::optional<sharding::SpecPattern>> inputs;  ///< One an input of the meta.
  std::vector<std::optional<sharding::SpecPattern>>
      outputs;                       ///< One an output of the meta; none where it feeds an input.
  std::vector<planner::Pin> values;  ///< Of arrays in between.
};

/// What an output must lie like is asked of the input that it feeds. Errors: InvalidArgumentError that names who asks
/// and for what array: a pattern that matches no name, a spec that does not fit the mesh or the array, demands that
/// contradict each other, a batch that its axis does not divide.
PlacementDemands placement_demands(const Program& program, const PlanOptions& options, const mesh::LogicalMesh& mesh);

/// Errors: InvalidArgumentError for names of axes that cannot be told apart, and for constraints that name axes where
/// the program is to run on one device.
void check_constraints(const PlanOptions& options);

}  // namespace alpa::compiler
