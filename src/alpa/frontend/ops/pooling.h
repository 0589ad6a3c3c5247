#pragma once

#include "alpa/frontend/array.h"
#include "alpa/frontend/ops/window.h"

/// Reductions over windows that move through an array.
namespace alpa {

enum class WindowReduction { kSum, kMax, kMin };

/// Numbers a dim of the array; none stands for ones, of the window too.
struct WindowOptions {
  std::vector<int64_t> window = {}, strides = {};
  WindowPadding padding = "VALID";
  std::vector<int64_t> base_dilation = {}, window_dilation = {};
};
/// What each place of the window covers, reduced: lax.reduce_window. Outside of the array lie 0, -inf or inf. Of equal
/// extrema the first one gets the whole cotangent. Errors: InvalidArgumentError for options that do not fit;
/// UnsupportedError for derivatives of extrema with dilation. **Cost**: the number of results times that of the
/// window's elements.
Array reduce_window(const ArrayLike& x, WindowReduction reduction, const WindowOptions& options);

/// flax.linen's pooling. **Shapes**: [batch..., spatial..., features], with a number a spatial dim; no strides stand
/// for ones.
Array max_pool(const ArrayLike& x, const std::vector<int64_t>& window, const std::vector<int64_t>& strides = {},
               const WindowPadding& padding = "VALID");
Array min_pool(const ArrayLike& x, const std::vector<int64_t>& window, const std::vector<int64_t>& strides = {},
               const WindowPadding& padding = "VALID");
/// With `count_include_pad` false, what lies outside of the array does not count.
Array avg_pool(const ArrayLike& x, const std::vector<int64_t>& window, const std::vector<int64_t>& strides = {},
               const WindowPadding& padding = "VALID", bool count_include_pad = true);

}  // namespace alpa
