#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alpa/hlo/module.h"
#include "alpa/sharding/op_sharding.h"

namespace alpa::hlo {

/// Where a program asks an array to lie. Either text, whose axes are those of a mesh that is not chosen yet, or the
/// tiles of an exported program.
struct ShardingConstraint {
  std::string spec;                           ///< As sharding::parse_pattern reads it; empty if there are tiles.
  std::optional<sharding::OpSharding> tiles;  ///< Of as many devices as the program was exported for.
  std::vector<int64_t> open_dims;             ///< Of the tiles: dims of which nothing is asked.
};

/// A copy of `operand`, in its place, that lies as asked.
Instruction make_sharding_constraint(std::string name, tensor::Shape shape, InstructionId operand,
                                     const ShardingConstraint& constraint);

/// What such a copy asks for; nothing of other instructions. Errors: InvalidArgumentError if its text was damaged.
std::optional<ShardingConstraint> sharding_constraint(const Instruction& instruction);

}  // namespace alpa::hlo
