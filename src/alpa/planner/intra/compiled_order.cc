#include "alpa/planner/intra/compiled_order.h"

#include <algorithm>
#include <initializer_list>

#include "alpa/hlo/attributes.h"

namespace alpa::planner {
namespace {

using Order = std::vector<int64_t>;

Order joined(std::initializer_list<Order> parts) {
  Order result;
  for (const Order& part : parts) result.insert(result.end(), part.begin(), part.end());
  return result;
}

Order free_dims(int64_t rank, const Order& batch, const Order& contracted) {
  Order free;
  for (int64_t dim = 0; dim < rank; ++dim) {
    const bool taken =
        std::count(batch.begin(), batch.end(), dim) + std::count(contracted.begin(), contracted.end(), dim);
    if (!taken) free.push_back(dim);
  }
  return free;
}

// Of a dot's operand. Its last two dims may be exchanged: a matrix is taken as its transpose.
void add_dot_operand(size_t k, const Order& batch, const Order& first, const Order& second,
                     std::vector<std::pair<size_t, Order>>& orders) {
  if (first.size() == 1 && second.size() == 1) {
    orders.emplace_back(k, joined({batch, {std::min(first[0], second[0]), std::max(first[0], second[0])}}));
  } else {
    orders.emplace_back(k, joined({batch, first, second}));
  }
}

}  // namespace

std::vector<std::pair<size_t, Order>> compiled_operand_orders(const hlo::Instruction& instruction,
                                                              const std::vector<tensor::Shape>& operands) {
  std::vector<std::pair<size_t, Order>> orders;
  if (instruction.opcode == hlo::Opcode::kDot) {
    const hlo::DotDims dims = hlo::dot_dims(instruction);
    const Order left = free_dims(operands[0].rank(), dims.lhs_batch, dims.lhs_contracting);
    const Order right = free_dims(operands[1].rank(), dims.rhs_batch, dims.rhs_contracting);
    add_dot_operand(0, dims.lhs_batch, left, dims.lhs_contracting, orders);
    add_dot_operand(1, dims.rhs_batch, dims.rhs_contracting, right, orders);
  } else if (instruction.opcode == hlo::Opcode::kConvolution) {
    const hlo::ConvolutionDims dims = hlo::convolution_dims(instruction);
    orders.emplace_back(0, joined({{dims.input_batch}, dims.input_spatial, {dims.input_feature}}));
    orders.emplace_back(1, joined({dims.kernel_spatial, {dims.kernel_input_feature}, {dims.kernel_output_feature}}));
  }
  return orders;
}

Order compiled_result_order(const hlo::Instruction& instruction) {
  if (instruction.opcode != hlo::Opcode::kConvolution) return {};
  const hlo::ConvolutionDims dims = hlo::convolution_dims(instruction);
  return joined({{dims.output_batch}, dims.output_spatial, {dims.output_feature}});
}

bool moves_elements(const tensor::Shape& shape, const Order& order) {
  Order moved;
  for (const int64_t dim : order) {
    if (shape.dims[static_cast<size_t>(dim)] > 1) moved.push_back(dim);
  }
  return !std::is_sorted(moved.begin(), moved.end());
}

}  // namespace alpa::planner
