// Learns to remove noise from handwritten digits: the training of a diffusion model.
#include "models/unet.h"

#include "train.h"

namespace {

using alpa::Array;

struct Batch {
  Array images, noise, time;  // [B,8,8,1], [B,8,8,1], [B] from 0 to 1000
  ALPA_PYTREE(images, noise, time)
};

/// The mean squared error of the noise that the network finds in a mixture.
Array loss_of(const models::Unet& unet, const Batch& batch) {
  const Array a = alpa::expand_dims(alpa::cos(batch.time / 1000 * (M_PI / 2)), {1, 2, 3});
  const Array mixture = a * batch.images + alpa::sqrt(1 - a * a + 1e-6) * batch.noise;
  return alpa::mean(alpa::square(unet(mixture, batch.time) - batch.noise));
}

void train_model(const examples::Options& options) {
  alpa::init("local", {.num_devices = options.devices});
  const examples::Digits digits = examples::load_digits();
  const Array key = alpa::random::key(static_cast<uint64_t>(options.seed));
  const models::Unet params = models::init_unet(key, {.channels = 16, .heads = 4, .image_channels = 1});
  constexpr int64_t kBatch = 32;
  int64_t drawn = 0;
  const auto next = [&](std::mt19937_64& random) {
    const Array keys = alpa::random::split(alpa::random::fold_in(key, ++drawn));
    const Array images = digits.images(examples::draw(random, digits.train_count(), kBatch)).reshape({kBatch, 8, 8, 1});
    return Batch{images * 2 - 1, alpa::random::normal(models::key_at(keys, 0), {kBatch, 8, 8, 1}),
                 alpa::random::uniform(models::key_at(keys, 1), {kBatch}) * 1000};
  };
  examples::train(options, params, alpa::optim::adam({.learning_rate = 2e-3}), loss_of, next, "images", kBatch);
  alpa::shutdown();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains a U-Net to remove noise from handwritten digits");
  examples::Options options;
  examples::add_options(app, options, 100);
  CLI11_PARSE(app, argc, argv);
  return examples::run([&] { train_model(options); });
}
