#include <algorithm>

#include "alpa/hlo/proto/hlo.pb.h"
#include "alpa/hlo/verify_check.h"

namespace alpa::hlo::verifying {
namespace {

std::vector<int64_t> sizes(const tensor::Shape& shape, const std::vector<int64_t>& dims) {
  std::vector<int64_t> result;
  for (const int64_t dim : dims) result.push_back(shape.dims[static_cast<size_t>(dim)]);
  return result;
}

std::vector<int64_t> joined(std::vector<int64_t> a, const std::vector<int64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void check_dot_dims(const Site& site, const DotDims& dims) {
  site.check_array(0);
  site.check_array(1);
  site.check_dims(joined(dims.lhs_batch, dims.lhs_contracting), site.operand(0).rank(), "left dim");
  site.check_dims(joined(dims.rhs_batch, dims.rhs_contracting), site.operand(1).rank(), "right dim");
  site.check(
      dims.lhs_batch.size() == dims.rhs_batch.size() && dims.lhs_contracting.size() == dims.rhs_contracting.size(),
      "it pairs {} batch dims with {} and {} contracted dims with {}", dims.lhs_batch.size(), dims.rhs_batch.size(),
      dims.lhs_contracting.size(), dims.rhs_contracting.size());
}

void append_free(const tensor::Shape& shape, const std::vector<int64_t>& named, std::vector<int64_t>& result) {
  for (int64_t dim = 0; dim < shape.rank(); ++dim) {
    if (std::find(named.begin(), named.end(), dim) == named.end())
      result.push_back(shape.dims[static_cast<size_t>(dim)]);
  }
}

void check_dot(const Site& site) {
  const DotDims dims = dot_dims(site.instruction());
  check_dot_dims(site, dims);
  const tensor::Shape& lhs = site.operand(0);
  const tensor::Shape& rhs = site.operand(1);
  site.check(sizes(lhs, dims.lhs_batch) == sizes(rhs, dims.rhs_batch) &&
                 sizes(lhs, dims.lhs_contracting) == sizes(rhs, dims.rhs_contracting),
             "batch or contracted dims of {} and {} differ in size", tensor::to_string(lhs), tensor::to_string(rhs));
  std::vector<int64_t> result = sizes(lhs, dims.lhs_batch);
  append_free(lhs, joined(dims.lhs_batch, dims.lhs_contracting), result);
  append_free(rhs, joined(dims.rhs_batch, dims.rhs_contracting), result);
  site.check(site.shape().is_array() && site.shape().dims == result, "its shape is {}, but its operands make [{}]",
             tensor::to_string(site.shape()), fmt::join(result, ","));
}

// The ragged dim decides the result's dims; that much is left to the plug-in.
void check_ragged_dot(const Site& site) {
  site.check_arrays();
  check_dot_dims(site, dot_dims(site.instruction()));
  const auto& numbers = site.instruction().proto->ragged_dot_dimension_numbers();
  site.check_dims({numbers.lhs_ragged_dimensions().begin(), numbers.lhs_ragged_dimensions().end()},
                  site.operand(0).rank(), "ragged dim");
  site.check_dims({numbers.rhs_group_dimensions().begin(), numbers.rhs_group_dimensions().end()},
                  site.operand(1).rank(), "group dim");
}

// Batch, feature and spatial dims are all the dims of an array.
void check_partition(const Site& site, const tensor::Shape& shape, std::vector<int64_t> two,
                     const std::vector<int64_t>& spatial, std::string_view what) {
  const std::vector<int64_t> all = joined(std::move(two), spatial);
  site.check_dims(all, shape.rank(), what);
  site.check(static_cast<int>(all.size()) == shape.rank(), "{}s [{}] are not all of {}", what, fmt::join(all, ","),
             tensor::to_string(shape));
}

void check_groups(const Site& site, const ConvolutionDims& dims) {
  const auto& proto = *site.instruction().proto;
  const auto size = [](const tensor::Shape& shape, int64_t dim) { return shape.dims[static_cast<size_t>(dim)]; };
  const int64_t output_features = size(site.operand(1), dims.kernel_output_feature);
  const int64_t batch = size(site.operand(0), dims.input_batch);
  const int64_t features = size(site.operand(0), dims.input_feature);
  site.check(proto.feature_group_count() >= 0 && proto.batch_group_count() >= 0 &&
                 (dims.feature_groups == 1 || dims.batch_groups == 1),
             "it has {} feature and {} batch groups", proto.feature_group_count(), proto.batch_group_count());
  site.check(features % dims.feature_groups == 0 &&
                 features / dims.feature_groups == size(site.operand(1), dims.kernel_input_feature),
             "{} features in {} groups do not meet a kernel {}", features, dims.feature_groups,
             tensor::to_string(site.operand(1)));
  site.check(output_features % dims.feature_groups == 0 && output_features % dims.batch_groups == 0 &&
                 batch % dims.batch_groups == 0,
             "{} output features and a batch of {} do not divide into {} feature and {} batch groups", output_features,
             batch, dims.feature_groups, dims.batch_groups);
  site.check(size(site.shape(), dims.output_batch) == batch / dims.batch_groups &&
                 size(site.shape(), dims.output_feature) == output_features,
             "its shape {} has another batch or other features than its operands make",
             tensor::to_string(site.shape()));
}

void check_convolution(const Site& site) {
  site.check_arrays();
  const ConvolutionDims dims = convolution_dims(site.instruction());
  check_partition(site, site.operand(0), {dims.input_batch, dims.input_feature}, dims.input_spatial, "input dim");
  check_partition(site, site.operand(1), {dims.kernel_input_feature, dims.kernel_output_feature}, dims.kernel_spatial,
                  "kernel dim");
  check_partition(site, site.shape(), {dims.output_batch, dims.output_feature}, dims.output_spatial, "output dim");
  site.check(site.operand(0).rank() == site.operand(1).rank() && site.operand(0).rank() == site.shape().rank(),
             "{}, {} and {} differ in rank", tensor::to_string(site.operand(0)), tensor::to_string(site.operand(1)),
             tensor::to_string(site.shape()));
  check_groups(site, dims);
  const std::vector<WindowDim> windows = checked_window(site, dims.input_spatial.size());
  const auto input = sizes(site.operand(0), dims.input_spatial);
  const auto kernel = sizes(site.operand(1), dims.kernel_spatial);
  const auto output = sizes(site.shape(), dims.output_spatial);
  for (size_t k = 0; k < windows.size(); ++k) {
    site.check(windows[k].size == kernel[k], "its window has size {} in spatial dim {}, the kernel {}", windows[k].size,
               k, kernel[k]);
    site.check(windowed_size(input[k], windows[k]) == output[k], "spatial dim {} is {}, but its operands make {}", k,
               output[k], windowed_size(input[k], windows[k]));
  }
}

}  // namespace

void check_contraction(const Site& site) {
  switch (site.opcode()) {
    case Opcode::kDot: return check_dot(site);
    case Opcode::kScaledDot: return check_dot_dims(site, dot_dims(site.instruction()));
    case Opcode::kRaggedDot: return check_ragged_dot(site);
    case Opcode::kConvolution: return check_convolution(site);
    default: return;
  }
}

}  // namespace alpa::hlo::verifying
