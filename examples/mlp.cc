// Recognizes handwritten digits: 1,797 real ones of 8x8 pixels, of which the last fifth is kept for testing.
#include "models/mlp.h"

#include "console.h"
#include "data.h"
#include "options.h"

namespace {

using alpa::Array;

struct Batch {
  Array images, labels;  // [B,64], s32 [B]
  ALPA_PYTREE(images, labels)
};

Batch batch_of(const examples::Digits& digits, const std::vector<int64_t>& rows) {
  return {digits.images(rows), digits.labels(rows)};
}

Array loss_of(const models::Mlp& mlp, const Batch& batch) {
  return alpa::mean(alpa::softmax_cross_entropy(mlp(batch.images), batch.labels));
}

void train(const examples::Options& options) {
  alpa::init("local", {.num_devices = options.devices});
  const examples::Digits digits = examples::load_digits();
  const auto optimizer = alpa::optim::adam({.learning_rate = 1e-3});
  auto state = alpa::optim::create_train_state(
      optimizer, models::init_mlp(alpa::random::key(static_cast<uint64_t>(options.seed)), {64, 256, 256, 10}));

  const auto step = [&](const auto& before, const Batch& batch) {
    const auto [loss, gradients] =
        alpa::value_and_grad([&](const models::Mlp& mlp) { return loss_of(mlp, batch); })(before.params);
    return std::pair(before.apply_gradients(optimizer, gradients), loss);
  };
  const auto train_step = alpa::parallelize(step, {.method = examples::method(options.method)});
  const auto accuracy = alpa::parallelize([](const models::Mlp& mlp, const Batch& batch) {
    return alpa::mean(alpa::equal(alpa::argmax(mlp(batch.images), -1), batch.labels).astype(alpa::DType::kF32));
  });

  constexpr int64_t kBatch = 128;
  std::mt19937_64 random(static_cast<uint64_t>(options.seed));
  console::Progress progress(options.steps, "images", kBatch);
  for (int64_t k = 1; k <= options.steps; ++k) {
    const Batch batch = batch_of(digits, examples::draw(random, digits.train_count(), kBatch));
    Array loss;
    std::tie(state, loss) = train_step(std::move(state), batch);
    progress.show(k, loss.item<float>());
  }
  console::plot(progress.losses());
  const Batch test = batch_of(digits, digits.test_rows());
  std::printf("test accuracy %.1f %%\n", 100 * accuracy(state.params, test).template item<float>());
  alpa::shutdown();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains a multilayer perceptron on handwritten digits");
  examples::Options options;
  examples::add_options(app, options, 200);
  CLI11_PARSE(app, argc, argv);
  return examples::run([&] { train(options); });
}
