#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "alpa/alpa.h"

namespace alpa::testing_net {

/// A network of two layers and its step of gradient descent, for tests of how a step is spread.
struct Params {
  Array up, bias, down;
  ALPA_PYTREE(up, bias, down)
};

struct State {
  Params params, momentum;
  ALPA_STATE(params, momentum)
};

struct Batch {
  Array x, y;
  ALPA_PYTREE(x, y)
};

/// Numbers between -scale and scale, all of them different from their neighbours.
inline Array spread(const Dims& dims, float scale) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t k = 0; k < values.size(); ++k) values[k] = scale * (static_cast<float>((k * 37) % 101) / 50.0f - 1.0f);
  return Array::from(values, dims);
}

/// [16,32] and [32,16].
inline Params params() { return {spread({16, 32}, 0.3f), spread({32}, 0.1f), spread({32, 16}, 0.2f)}; }

inline State state() { return {params(), {zeros({16, 32}), zeros({32}), zeros({32, 16})}}; }

inline Batch batch(int64_t rows) { return {spread({rows, 16}, 1.0f), spread({rows, 16}, 0.5f)}; }

inline Array loss_of(const Params& params, const Batch& batch) {
  const Array hidden = tanh(matmul(batch.x, params.up) + params.bias);
  return mean(square(matmul(hidden, params.down) - batch.y));
}

/// Loss and gradient.
inline std::pair<Array, Params> gradient_step(const Params& params, const Batch& batch) {
  return value_and_grad([&](const Params& p) { return loss_of(p, batch); })(params);
}

/// Gradient descent with momentum.
inline std::pair<State, Array> train_step(State state, const Batch& batch) {
  auto [loss, gradients] = gradient_step(state.params, batch);
  state.momentum = tree_map2(state.momentum, gradients, [](const Array& m, const Array& g) { return 0.9 * m + g; });
  state.params = tree_map2(state.params, state.momentum, [](const Array& p, const Array& m) { return p - 0.1 * m; });
  return {state, loss};
}

/// Trees of the same arrays, but for rounding.
template <typename Tree>
void expect_same(const Tree& found, const Tree& expected, double tolerance = 1e-5) {
  const std::vector<std::string> paths = tree_paths(expected);
  const std::vector<Array> a = tree_leaves(found), b = tree_leaves(expected);
  ASSERT_EQ(a.size(), b.size());
  for (size_t k = 0; k < a.size(); ++k) {
    ASSERT_EQ(a[k].shape(), b[k].shape()) << paths[k];
    const std::vector<double> have = a[k].template to_vector<double>(), want = b[k].template to_vector<double>();
    for (size_t at = 0; at < have.size(); ++at)
      ASSERT_NEAR(have[at], want[at], tolerance * (1 + std::abs(want[at]))) << paths[k] << " " << at;
  }
}

}  // namespace alpa::testing_net
