#include <algorithm>

#include "alpa/hlo/attributes.h"
#include "alpa/planner/intra/rule_families.h"

namespace alpa::planner {
namespace {

bool contains(const std::vector<int64_t>& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

// Result dims: batch, then the free dims of lhs, then those of rhs.
ShardingRule dot_rule(const RuleRequest& request) {
  const hlo::DotDims dims = hlo::dot_dims(request.instruction);
  FactorList factors(request);
  int64_t result = 0;
  for (size_t k = 0; k < dims.lhs_batch.size(); ++k) {
    factors.parallel({{0, dims.lhs_batch[k]}, {1, dims.rhs_batch[k]}}, {{0, result++}});
  }
  const auto free = [&](int operand, const std::vector<int64_t>& batch, const std::vector<int64_t>& contracting) {
    for (int64_t dim = 0; dim < request.operands[static_cast<size_t>(operand)].rank(); ++dim) {
      if (contains(batch, dim) || contains(contracting, dim)) continue;
      factors.parallel({{operand, dim}}, {{0, result++}});
    }
  };
  free(0, dims.lhs_batch, dims.lhs_contracting);
  free(1, dims.rhs_batch, dims.rhs_contracting);
  for (size_t k = 0; k < dims.lhs_contracting.size(); ++k) {
    factors.reduction({{0, dims.lhs_contracting[k]}, {1, dims.rhs_contracting[k]}});
  }
  return factors.take();
}

// Spatial dims stay whole: stock XLA computes some of their divisions wrongly (case A03) and exchanges halos for the
// rest.
ShardingRule convolution_rule(const RuleRequest& request) {
  const hlo::ConvolutionDims dims = hlo::convolution_dims(request.instruction);
  FactorList factors(request);
  if (dims.batch_groups == 1) factors.parallel({{0, dims.input_batch}}, {{0, dims.output_batch}});
  if (dims.batch_groups == 1 && dims.feature_groups == 1) {
    factors.parallel({{1, dims.kernel_output_feature}}, {{0, dims.output_feature}});
    factors.reduction({{0, dims.input_feature}, {1, dims.kernel_input_feature}});
  }
  if (dims.feature_groups > 1) {
    factors.parallel({{0, dims.input_feature}, {1, dims.kernel_output_feature}}, {{0, dims.output_feature}},
                     dims.feature_groups);
  }
  if (dims.batch_groups > 1) {
    factors.parallel({{0, dims.input_batch}, {1, dims.kernel_output_feature}}, {{0, dims.output_feature}},
                     dims.batch_groups);
  }
  return factors.take();
}

}  // namespace alpa::planner
