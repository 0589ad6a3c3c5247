#pragma once

#include "alpa/hlo/attributes.h"

/// Targets of the custom calls that front ends leave to tell the parts of a step: identities over their operands.
namespace alpa::hlo {

/// Over loss, auxiliary outputs and gradients, in this order: what is before it computes gradients, what is after it
/// applies them. Its backend_config says how many of the operands are no gradients: `num_values = 2 : i64`; of exported
/// files meta.json may say it.
inline constexpr const char* kGradientMarker = "alpa.gradient_marker";
/// Between the layers of a pipeline.
inline constexpr const char* kPipelineMarker = "alpa.pipeline_marker";

/// Over one array: its backend_config is a placement as sharding::parse_pattern reads it, which the array must have.
inline constexpr const char* kShardingConstraint = "alpa.sharding_constraint";

inline bool is_gradient_marker(const Instruction& instruction) {
  return instruction.opcode == Opcode::kCustomCall && custom_call_target(instruction) == kGradientMarker;
}

}  // namespace alpa::hlo
