#include <gtest/gtest.h>

#include "alpa/api/testing/derivatives.h"

// Operations with windows, indices and orders, in steps that are planned for eight devices, against one device.
namespace alpa {
namespace {

using testing::numbers;

struct Weights {
  Array kernel, depthwise, table, head;
  ALPA_PYTREE(kernel, depthwise, table, head)
};

Array float_numbers(const Dims& dims, double seed) { return numbers(dims, seed).astype(DType::kF32); }

Weights first_weights() {
  return {float_numbers({3, 3, 4, 8}, 1) * 0.3, float_numbers({3, 3, 1, 8}, 2) * 0.3, float_numbers({16, 8}, 3),
          float_numbers({8, 8}, 4)};
}

Array loss_of(const Weights& w, const Array& pictures, const Array& ids) {
  Array h = conv_general_dilated(pictures, w.kernel, {.strides = {2, 2}});
  h = max_pool(tanh(h), {3, 3}, {2, 2}, "SAME");
  h = conv_general_dilated(h, w.depthwise, {.feature_group_count = 8});
  h = avg_pool(resize_nearest(h, {h.dim(0), 4, 4, 8}), {2, 2}, {2, 2});
  const Array pooled = mean(h, {1, 2});
  const Array embedded = sum(take(w.table, ids, 0), {1});
  const Array logits = matmul(pooled + embedded, w.head);
  const Array chosen = take_along_axis(logits, ids(all, range(0, 1)) % 8, -1);
  const Array steps = cumsum(sort(logits), -1)(all, range({}, {}, -2));
  const Array highest = scatter_max(logits, ids(range(0, 1), 0) % 8, zeros({logits.dim(0), 1}), 1);
  const Array spread = stddev(logits, {1}, false, 1) + logaddexp(asinh(highest), hypot(logits, 1))(all, 0);
  return mean(tensordot(spread, highest, 1)) + mean(square(top_k(logits, 3).first)) + mean(chosen) +
         mean(steps * steps);
}

std::pair<Array, Weights> step(const Weights& w, const Array& pictures, const Array& ids) {
  return value_and_grad([&](const Weights& at) { return loss_of(at, pictures, ids); })(w);
}

TEST(OperationsParallel, GiveWhatOneDeviceGives) {
  init("local", {.num_devices = 8});
  const Weights w = first_weights();
  const Array pictures = float_numbers({16, 8, 8, 4}, 5);
  std::vector<int> chosen;
  for (int k = 0; k < 16 * 3; ++k) chosen.push_back((k * 7) % 16);
  const Array ids = Array::from(chosen, {16, 3});
  const auto [expected_loss, expected] = step(w, pictures, ids);
  const auto [loss, found] = parallelize(step, {.batch_argnums = {1, 2}})(w, pictures, ids);
  EXPECT_NEAR(loss.item<float>(), expected_loss.item<float>(), 1e-4);
  const std::vector<Array> a = tree_leaves(found), b = tree_leaves(expected);
  ASSERT_EQ(a.size(), b.size());
  for (size_t k = 0; k < a.size(); ++k) {
    const std::vector<float> x = a[k].to_vector<float>(), y = b[k].to_vector<float>();
    for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], 1e-4 * (1 + std::abs(y[i]))) << k << " " << i;
  }
  shutdown();
}

}  // namespace
}  // namespace alpa
