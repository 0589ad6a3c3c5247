// Recognizes handwritten digits with a vision transformer over patches of 2x2 pixels.
#include "models/vit.h"

#include "train.h"

namespace {

using alpa::Array;

struct Batch {
  Array images, labels;  // [B,8,8,1], s32 [B]
  ALPA_PYTREE(images, labels)
};

void train_model(const examples::Options& options) {
  alpa::init("local", {.num_devices = options.devices});
  const examples::Digits digits = examples::load_digits();
  const auto batch_of = [&](const std::vector<int64_t>& rows) {
    return Batch{digits.images(rows).reshape({static_cast<int64_t>(rows.size()), 8, 8, 1}), digits.labels(rows)};
  };
  const models::Vit params = models::init_vit(alpa::random::key(static_cast<uint64_t>(options.seed)),
                                              {.image = 8, .channels = 1, .patch = 2, .hidden = 64, .classes = 10});
  const auto loss = [](const models::Vit& vit, const Batch& batch) {
    return alpa::mean(alpa::softmax_cross_entropy(vit(batch.images), batch.labels));
  };
  constexpr int64_t kBatch = 64;
  const auto next = [&](std::mt19937_64& random) {
    return batch_of(examples::draw(random, digits.train_count(), kBatch));
  };
  const auto trained =
      examples::train(options, params, alpa::optim::adamw({.learning_rate = 1e-3}), loss, next, "images", kBatch);
  const auto accuracy = alpa::parallelize([](const models::Vit& vit, const Batch& batch) {
    return alpa::mean(alpa::equal(alpa::argmax(vit(batch.images), -1), batch.labels).astype(alpa::DType::kF32));
  });
  std::printf("test accuracy %.1f %%\n", 100 * accuracy(trained, batch_of(digits.test_rows())).item<float>());
  alpa::shutdown();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains a vision transformer on handwritten digits");
  examples::Options options;
  examples::add_options(app, options, 150);
  CLI11_PARSE(app, argc, argv);
  return examples::run([&] { train_model(options); });
}
