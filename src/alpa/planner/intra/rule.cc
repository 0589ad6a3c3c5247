#include "alpa/planner/intra/rule.h"

#include <numeric>

#include "alpa/hlo/attributes.h"
#include "alpa/planner/intra/rule_families.h"

namespace alpa::planner {

void FactorList::add(Factor::Kind kind, const std::vector<Dim>& operands, const std::vector<Dim>& results,
                     int64_t size) {
  Factor factor;
  factor.kind = kind;
  factor.size = size;
  factor.operand_dims.assign(request_.operands.size(), -1);
  factor.result_dims.assign(request_.results.size(), -1);
  bool empty = false;  // a dim of 0 is divided by nothing, whatever the others are
  const auto runs_over = [&](const tensor::Shape& shape, int64_t dim) {
    const int64_t extent = shape.dims.at(static_cast<size_t>(dim));
    factor.size = std::gcd(factor.size, extent);
    empty |= extent == 0;
    return static_cast<int>(dim);
  };
  for (const Dim& at : operands) {
    const auto index = static_cast<size_t>(at.index);
    factor.operand_dims[index] = runs_over(request_.operands[index], at.dim);
  }
  for (const Dim& at : results) {
    const auto index = static_cast<size_t>(at.index);
    factor.result_dims[index] = runs_over(request_.results[index], at.dim);
  }
  if (!empty && factor.size > 1) rule_.factors.push_back(std::move(factor));
}

ShardingRule elementwise_rule(const RuleRequest& request) {
  FactorList factors(request);
  const auto& dims = request.results[0].dims;
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    std::vector<FactorList::Dim> operands;
    for (size_t k = 0; k < request.operands.size(); ++k) {
      // Scalar predicates and bounds of select and clamp have no dims; a bitcast to narrower elements adds a last one.
      if (dim < request.operands[k].dims.size() && request.operands[k].dims[dim] == dims[dim]) {
        operands.push_back({static_cast<int>(k), static_cast<int64_t>(dim)});
      }
    }
    factors.parallel(operands, {{0, static_cast<int64_t>(dim)}});
  }
  return factors.take();
}

namespace {

ShardingRule bitcast_convert_rule(const RuleRequest& request) {
  FactorList factors(request);
  const size_t common = std::min(request.operands[0].dims.size(), request.results[0].dims.size());
  for (size_t dim = 0; dim < common; ++dim) {
    factors.parallel({{0, static_cast<int64_t>(dim)}}, {{0, static_cast<int64_t>(dim)}});
  }
  return factors.take();
}

}  // namespace

ShardingRule sharding_rule(const RuleRequest& request) {
  using hlo::Opcode;
  if (request.results.empty() || !request.results[0].is_array()) return {};
  switch (request.instruction.opcode) {
    case Opcode::kBitcastConvert: return bitcast_convert_rule(request);
    case Opcode::kDot: return dot_rule(request);
    case Opcode::kConvolution: return convolution_rule(request);
    case Opcode::kBroadcast: return broadcast_rule(request);
    case Opcode::kTranspose: return transpose_rule(request);
    case Opcode::kReshape: return reshape_rule(request);
    case Opcode::kSlice: return slice_rule(request);
    case Opcode::kPad: return pad_rule(request);
    case Opcode::kConcatenate: return concatenate_rule(request);
    case Opcode::kReverse: return reverse_rule(request);
    case Opcode::kIota: return iota_rule(request);
    case Opcode::kReduce: return reduce_rule(request);
    case Opcode::kReduceWindow: return reduce_window_rule(request);
    case Opcode::kSelectAndScatter: return select_and_scatter_rule(request);
    case Opcode::kSort: return sort_rule(request);
    case Opcode::kCholesky:
    case Opcode::kTriangularSolve: return matrix_rule(request);
    case Opcode::kDynamicSlice: return dynamic_slice_rule(request);
    case Opcode::kDynamicUpdateSlice: return dynamic_update_slice_rule(request);
    case Opcode::kGather: return gather_rule(request);
    case Opcode::kScatter: return scatter_rule(request);
    case Opcode::kOptimizationBarrier: return elementwise_rule(request);
    case Opcode::kMap:
    case Opcode::kStochasticConvert: return {};
    default: return hlo::is_elementwise(request.instruction.opcode) ? elementwise_rule(request) : ShardingRule{};
  }
}

}  // namespace alpa::planner
