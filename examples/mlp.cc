// Recognizes handwritten digits: 1,797 real ones of 8x8 pixels, of which the last fifth is kept for testing.
#include "models/mlp.h"

#include "train.h"

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

void train_model(const examples::Options& options) {
  alpa::init("local", {.num_devices = options.devices});
  const examples::Digits digits = examples::load_digits();
  const models::Mlp params =
      models::init_mlp(alpa::random::key(static_cast<uint64_t>(options.seed)), {64, 256, 256, 10});
  constexpr int64_t kBatch = 128;
  const auto next = [&](std::mt19937_64& random) {
    return batch_of(digits, examples::draw(random, digits.train_count(), kBatch));
  };
  const auto trained =
      examples::train(options, params, alpa::optim::adam({.learning_rate = 1e-3}), loss_of, next, "images", kBatch);
  const auto accuracy = alpa::parallelize([](const models::Mlp& mlp, const Batch& batch) {
    return alpa::mean(alpa::equal(alpa::argmax(mlp(batch.images), -1), batch.labels).astype(alpa::DType::kF32));
  });
  const Batch test = batch_of(digits, digits.test_rows());
  std::printf("test accuracy %.1f %%\n", 100 * accuracy(trained, test).item<float>());
  alpa::shutdown();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains a multilayer perceptron on handwritten digits");
  examples::Options options;
  examples::add_options(app, options, 200);
  CLI11_PARSE(app, argc, argv);
  return examples::run([&] { train_model(options); });
}
