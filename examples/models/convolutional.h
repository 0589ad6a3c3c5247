#pragma once

#include <optional>
#include <string>

#include "layers.h"

/// Layers of convolutional networks. Pictures are [B,H,W,C].
namespace models {

struct Conv {
  Array kernel;               // [h,w,I,O]
  std::optional<Array> bias;  // [O]
  int64_t stride = 1;
  std::string padding = "SAME";
  ALPA_PYTREE(kernel, bias, stride, padding)

  Array operator()(const Array& x) const {
    const Array y = alpa::conv_general_dilated(x, kernel, {.strides = {stride, stride}, .padding = padding.c_str()});
    return bias ? y + *bias : y;
  }
};

inline Conv init_conv(const Array& key, int64_t size, int64_t inputs, int64_t outputs, int64_t stride = 1,
                      bool bias = true, const std::string& padding = "SAME") {
  const double scale = 1 / std::sqrt(static_cast<double>(size * size * inputs));
  Conv conv{alpa::random::normal(key, {size, size, inputs, outputs}) * scale, {}, stride, padding};
  if (bias) conv.bias = alpa::zeros({outputs});
  return conv;
}

/// Running statistics of a batch normalization.
struct Statistics {
  Array mean, var;  // [C]
  ALPA_PYTREE(mean, var)
};

struct BatchNorm {
  Array scale, bias;  // [C]
  ALPA_PYTREE(scale, bias)

  /// Normalizes by the batch's statistics and brings the running ones up to date.
  Array operator()(const Array& x, Statistics& running, double momentum = 0.9) const {
    const Array mean = alpa::mean(x, {0, 1, 2});
    const Array var = alpa::maximum(alpa::mean(alpa::square(x), {0, 1, 2}) - alpa::square(mean), 0);
    running.mean = momentum * running.mean + (1 - momentum) * mean;
    running.var = momentum * running.var + (1 - momentum) * var;
    return (x - mean) * (alpa::rsqrt(var + 1e-5) * scale) + bias;
  }
};

inline BatchNorm init_batch_norm(int64_t channels) { return {alpa::ones({channels}), alpa::zeros({channels})}; }
inline Statistics init_statistics(int64_t channels) { return {alpa::zeros({channels}), alpa::ones({channels})}; }

struct GroupNorm {
  Array scale, bias;  // [C]
  int64_t groups = 4;
  ALPA_PYTREE(scale, bias, groups)

  Array operator()(const Array& x) const {
    const int64_t B = x.dim(0), H = x.dim(1), W = x.dim(2), C = x.dim(3);
    const Array grouped = x.reshape({B, H, W, groups, C / groups});
    const Array mean = alpa::mean(grouped, {1, 2, 4}, true);
    const Array var = alpa::maximum(alpa::mean(alpa::square(grouped), {1, 2, 4}, true) - alpa::square(mean), 0);
    const Array normal = (grouped - mean) * alpa::rsqrt(var + 1e-6);
    return normal.reshape(x.dims()) * scale + bias;
  }
};

inline GroupNorm init_group_norm(int64_t channels) { return {alpa::ones({channels}), alpa::zeros({channels}), 4}; }

}  // namespace models
