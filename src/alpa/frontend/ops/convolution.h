#pragma once

#include "alpa/frontend/array.h"
#include "alpa/frontend/ops/window.h"

/// Convolutions (in the machine-learning sense: the kernel is not reversed) with any number of spatial dims.
namespace alpa {

/// Numbers a spatial dim; none stands for ones.
struct ConvolutionOptions {
  std::vector<int64_t> strides = {};
  WindowPadding padding = "SAME";
  std::vector<int64_t> lhs_dilation = {}, rhs_dilation = {};
  /// Features are cut into so many parts; each part of the results' features sees one part of the operand's.
  int64_t feature_group_count = 1;
  /// The same for the batch: each part of the results' features sees one part of the batch.
  int64_t batch_group_count = 1;
  /// A letter a dim: N batch, C feature; I and O the kernel's; the others name the spatial dims, in the order that the
  /// kernel has. Empty: batch first and features last, the kernel's spatial dims first: NHWC, HWIO, NHWC.
  std::string lhs_layout = {}, rhs_layout = {}, out_layout = {};
};

/// lax.conv_general_dilated. **Shapes** (default layout, 2-D): [N, H, W, C] x [h, w, C / groups, O] -> [N, H', W', O].
/// Errors: InvalidArgumentError that names both shapes and the place.
Array conv_general_dilated(const ArrayLike& lhs, const ArrayLike& rhs, const ConvolutionOptions& options = {});

/// Numbers a spatial dim; none stands for ones.
struct ConvTransposeOptions {
  std::vector<int64_t> strides = {};
  /// Of the convolution that this is the transpose of: SAME gives size * stride elements.
  WindowPadding padding = "SAME";
  std::vector<int64_t> rhs_dilation = {};
  std::string lhs_layout = {}, rhs_layout = {}, out_layout = {};
  /// True: the very transpose of a convolution with this kernel: the kernel reversed, its features exchanged.
  bool transpose_kernel = false;
};
/// A convolution of the operand with its elements `strides` apart: lax.conv_transpose.
Array conv_transpose(const ArrayLike& lhs, const ArrayLike& rhs, const ConvTransposeOptions& options = {});

}  // namespace alpa
