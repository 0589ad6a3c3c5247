#pragma once

#include <cstdint>
#include <vector>

#include "alpa/planner/intra/device_program.h"
#include "alpa/planner/intra/predicted_program.h"

namespace alpa::planner {

/// A computation that a loop or a conditional runs, by steps of the predicted program.
struct RegionBody {
  int32_t computation = 0;
  std::vector<int32_t> parameters;
  std::vector<int32_t> roots;
};

/// A loop or a conditional. The parameters of a loop's body are its results too.
struct Region {
  hlo::Opcode opcode = hlo::Opcode::kWhile;
  int32_t computation = 0;  ///< Where it stands.
  std::vector<int32_t> inits;
  std::vector<int32_t> results;
  std::vector<RegionBody> bodies;
};

/// What holds the steps of a predicted program together.
struct ProgramFrame {
  int32_t num_computations = 0;
  int32_t entry = 0;
  std::vector<Region> regions;
  std::vector<int32_t> inputs;   ///< Steps.
  std::vector<int32_t> outputs;  ///< Steps.
  std::vector<DeviceAlias> aliases;
};

/// The program of one device: the steps, and their collectives as the passes leave them with what brings arrays into
/// the form that they are exchanged in. `program`: after its passes.
DeviceProgram build_device_program(const PredictedProgram& program, const ProgramFrame& frame);

}  // namespace alpa::planner
