// Recognizes handwritten digits with a wide residual network; batch statistics are part of the training state.
#include "models/wide_resnet.h"

#include "console.h"
#include "data.h"
#include "options.h"

namespace {

using alpa::Array;

struct Batch {
  Array images, labels;  // [B,8,8,1], s32 [B]
  ALPA_PYTREE(images, labels)
};

using Momentum = alpa::optim::SlotState<models::WideResNet>;

struct State {
  models::WideResNet params;
  models::WideResNetStatistics running;
  Momentum momentum;
  ALPA_STATE(params, running, momentum)
};

Batch batch_of(const examples::Digits& digits, const std::vector<int64_t>& rows) {
  return {digits.images(rows).reshape({static_cast<int64_t>(rows.size()), 8, 8, 1}), digits.labels(rows)};
}

void train(const examples::Options& options) {
  alpa::init("local", {.num_devices = options.devices});
  const examples::Digits digits = examples::load_digits();
  const auto optimizer = alpa::optim::sgd({.learning_rate = 0.05, .momentum = 0.9, .nesterov = true});
  State state;
  std::tie(state.params, state.running) = models::init_wide_resnet(
      alpa::random::key(static_cast<uint64_t>(options.seed)), {.blocks = {1, 1}, .classes = 10, .input_channels = 1});
  state.momentum = optimizer.init(state.params);

  const auto step = [&](const State& before, const Batch& batch) {
    const auto [both, gradients] = alpa::value_and_grad([&](const models::WideResNet& net) {
      models::WideResNetStatistics running = before.running;
      const Array logits = net(batch.images, running);
      return std::pair(alpa::mean(alpa::softmax_cross_entropy(logits, batch.labels)), running);
    })(before.params);
    auto [updates, momentum] = optimizer.update(gradients, before.momentum, before.params);
    return std::pair(State{alpa::optim::apply_updates(before.params, updates), both.second, momentum}, both.first);
  };
  const auto train_step = alpa::parallelize(step, {.method = examples::method(options.method)});
  const auto accuracy = alpa::parallelize(
      [](const State& trained, const Batch& batch) {
        models::WideResNetStatistics unused = trained.running;
        const Array logits = trained.params(batch.images, unused);
        return alpa::mean(alpa::equal(alpa::argmax(logits, -1), batch.labels).astype(alpa::DType::kF32));
      },
      {.donate_argnums = std::vector<int>{}});

  constexpr int64_t kBatch = 64;
  std::mt19937_64 random(static_cast<uint64_t>(options.seed));
  console::Progress progress(options.steps, "images", kBatch);
  for (int64_t k = 1; k <= options.steps; ++k) {
    Array loss;
    std::tie(state, loss) =
        train_step(std::move(state), batch_of(digits, examples::draw(random, digits.train_count(), kBatch)));
    progress.show(k, loss.item<float>());
  }
  console::plot(progress.losses());
  std::printf("test accuracy %.1f %%\n",
              100 * accuracy(state, batch_of(digits, digits.test_rows())).template item<float>());
  alpa::shutdown();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains a wide residual network on handwritten digits");
  examples::Options options;
  examples::add_options(app, options, 60);
  CLI11_PARSE(app, argc, argv);
  return examples::run([&] { train(options); });
}
