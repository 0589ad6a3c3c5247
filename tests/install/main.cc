#include <alpa/alpa.h>

#include <cmath>
#include <cstdio>

using alpa::Array;

// Parameters are plain structs. ALPA_PYTREE names the fields that hold arrays.
struct Layer {
  Array weights, bias;
  ALPA_PYTREE(weights, bias)
};
using Model = std::vector<Layer>;

struct Batch {
  Array x, y;
  ALPA_PYTREE(x, y)
};

Model create_model(const std::vector<int64_t>& widths) {
  Model model;
  for (size_t k = 0; k + 1 < widths.size(); ++k) {
    const Array weights = alpa::random::normal(alpa::random::key(k), {widths[k], widths[k + 1]});
    model.push_back({weights / std::sqrt(widths[k]), alpa::zeros({widths[k + 1]})});
  }
  return model;
}

Array predict(const Model& model, Array x) {
  for (size_t k = 0; k < model.size(); ++k) {
    if (k > 0) x = alpa::tanh(x);
    x = alpa::matmul(x, model[k].weights) + model[k].bias;
  }
  return x;
}

Batch draw_batch(int step) {  // 1,024 points of the plane and the height of a wavy surface above each
  const Array x = alpa::random::uniform(alpa::random::key(step), {1024, 2});
  return {x, alpa::sum(alpa::sin(x * 6), {1}, true)};
}

int main() {
  alpa::init("local", {.num_devices = 8});
  const auto adam = alpa::optim::adam({.learning_rate = 0.01});
  auto state = alpa::optim::create_train_state(adam, create_model({2, 64, 64, 1}));
  // The step is written for one device; parallelize divides it over all 8.
  const auto train_step = alpa::parallelize([&](const auto& old, const Batch& batch) {
    const auto loss_of = [&](const Model& m) { return alpa::mean(alpa::square(predict(m, batch.x) - batch.y)); };
    const auto [loss, gradients] = alpa::value_and_grad(loss_of)(old.params);
    return std::pair(old.apply_gradients(adam, gradients), loss);
  });
  Array loss;
  for (int step = 0; step <= 200; ++step) {
    std::tie(state, loss) = train_step(std::move(state), draw_batch(step));
    if (step % 50 == 0) std::printf("step %3d: loss %.4f\n", step, loss.item<float>());
  }
  const float last = loss.item<float>();
  alpa::shutdown();
  return last < 0.05 ? 0 : 1;
}
