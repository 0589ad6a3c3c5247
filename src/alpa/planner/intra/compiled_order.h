#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "alpa/hlo/module.h"

namespace alpa::planner {

/// In which order XLA's CPU compiler wants the dims of a dot's or convolution's operands, by operand, where that is not
/// the order in which they lie: a dot takes batch dims first and one contracted dim, behind the left operand's free
/// ones and in front of the right one's (single dims of both kinds may be exchanged); a convolution takes batch, space,
/// features and a kernel space, input features, output features. Empty for other operations.
std::vector<std::pair<size_t, std::vector<int64_t>>> compiled_operand_orders(
    const hlo::Instruction& instruction, const std::vector<tensor::Shape>& operands);

/// The same of a convolution's result; empty for other operations.
std::vector<int64_t> compiled_result_order(const hlo::Instruction& instruction);

/// Whether an array whose dims are taken in another order lies otherwise in memory: dims of size 1 may go anywhere.
bool moves_elements(const tensor::Shape& shape, const std::vector<int64_t>& order);

}  // namespace alpa::planner
