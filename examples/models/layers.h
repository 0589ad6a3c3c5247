#pragma once

#include <alpa/alpa.h>

#include <cmath>
#include <vector>

/// Layers that the example models share. Parameters are plain structs; a layer is a function of them.
namespace models {

using alpa::Array;

struct Dense {
  Array kernel, bias;  // [I,O], [O]
  ALPA_PYTREE(kernel, bias)

  Array operator()(const Array& x) const { return alpa::matmul(x, kernel) + bias; }
};

struct LayerNorm {
  Array scale, bias;  // [H], [H]
  ALPA_PYTREE(scale, bias)

  Array operator()(const Array& x) const { return alpa::layer_norm(x, scale, bias); }
};

/// Normal numbers scaled by 1 / sqrt(fan in).
inline Dense init_dense(const Array& key, int64_t inputs, int64_t outputs) {
  const double scale = 1 / std::sqrt(static_cast<double>(inputs));
  return {alpa::random::normal(key, {inputs, outputs}) * scale, alpa::zeros({outputs})};
}

inline LayerNorm init_layer_norm(int64_t width) { return {alpa::ones({width}), alpa::zeros({width})}; }

/// One of several keys made by random::split.
inline Array key_at(const Array& keys, int64_t index) {
  return alpa::squeeze(alpa::slice_in_dim(keys, 0, index, index + 1), {0});
}

}  // namespace models
