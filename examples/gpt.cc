// Trains a language model on the bytes of a text and writes a sample.
#include "models/gpt.h"

#include "alpa/runtime/mesh_executable.h"
#include "console.h"
#include "data.h"
#include "options.h"

namespace {

using alpa::Array;

struct Batch {
  Array tokens, labels;  // s32 [B,S]
  ALPA_PYTREE(tokens, labels)
};

struct Choices : examples::Options {
  std::string text;
  models::GptConfig model{.vocabulary = 256, .sequence = 64, .hidden = 128, .layers = 4, .heads = 8};
  int64_t batch = 16;
  int64_t sample = 200;
  std::string save;
};

/// Continues `prompt` byte by byte. The window slides once it is full.
std::string sample(const models::Gpt& gpt, const models::GptConfig& config, std::string text, int64_t count,
                   Array key) {
  const auto next = alpa::parallelize(
      [](const models::Gpt& model, const Array& tokens, const Array& place, const Array& draw) {
        const Array logits = model(tokens).first;
        const Array last = alpa::dynamic_index_in_dim(alpa::squeeze(logits, {0}), place, 0, false);
        return alpa::random::categorical(draw, last / 0.7);
      },
      {.batch_argnums = {}});
  for (int64_t k = 0; k < count; ++k) {
    const auto window = static_cast<size_t>(config.sequence);
    const std::string tail = text.size() > window ? text.substr(text.size() - window) : text;
    std::vector<int32_t> tokens(window, 0);
    for (size_t t = 0; t < tail.size(); ++t) tokens[t] = static_cast<unsigned char>(tail[t]);
    const Array place = alpa::full({}, static_cast<double>(tail.size() - 1), alpa::DType::kS32);
    const Array chosen = next(gpt, Array::from(tokens, {1, config.sequence}), place, alpa::random::fold_in(key, k));
    text += static_cast<char>(chosen.item<int32_t>());
  }
  return text;
}

void train(const Choices& choices) {
  alpa::init("local", {.num_devices = choices.devices});
  const examples::Text text(choices.text);
  const Array key = alpa::random::key(static_cast<uint64_t>(choices.seed));
  const auto optimizer = alpa::optim::chain(
      alpa::optim::clip_by_global_norm(1.0),
      alpa::optim::adamw({.learning_rate = alpa::optim::warmup_cosine_decay_schedule(
                              0, 3e-3, std::max<int64_t>(1, choices.steps / 10), choices.steps + 1, 3e-4)}));
  auto state = alpa::optim::create_train_state(optimizer, models::init_gpt(key, choices.model));

  const auto step = [&](const auto& before, const Batch& batch) {
    const auto [loss, gradients] = alpa::value_and_grad(
        [&](const models::Gpt& gpt) { return models::gpt_loss(gpt, batch.tokens, batch.labels); })(before.params);
    return std::pair(before.apply_gradients(optimizer, gradients), loss);
  };
  const auto train_step = alpa::parallelize(step, {.method = examples::method(choices.method)});

  std::printf("%s: %ld layers, %ld wide, on %d devices\n", choices.text.c_str(),
              static_cast<long>(choices.model.layers), static_cast<long>(choices.model.hidden), choices.devices);
  std::mt19937_64 random(static_cast<uint64_t>(choices.seed));
  console::Progress progress(choices.steps, "tokens", static_cast<double>(choices.batch * choices.model.sequence));
  const std::vector<std::string> names = alpa::tree_paths(state.params);  // the state's first inputs
  for (int64_t k = 1; k <= choices.steps; ++k) {
    const auto [tokens, labels] = text.batch(random, choices.batch, choices.model.sequence);
    Array loss;
    std::tie(state, loss) = train_step(std::move(state), Batch{tokens, labels});
    if (k == 1) {
      const auto executable = train_step.get_last_executable();
      std::printf("Placed on a mesh of %s devices:\n",
                  executable->mesh_executable().logical_mesh().to_string().c_str());
      console::print_placements(names, executable->get_input_placement_specs());
    }
    progress.show(k, loss.item<float>());
  }
  console::plot(progress.losses());
  if (!choices.save.empty()) alpa::save(choices.save, state);
  if (choices.sample > 0)
    std::printf("--- a sample ---\n%s\n",
                sample(state.params, choices.model, "The ", choices.sample, alpa::random::fold_in(key, 1)).c_str());
  alpa::shutdown();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains a small GPT on a text, byte by byte");
  Choices choices;
  choices.text = examples::default_text();
  examples::add_options(app, choices, 200);
  app.add_option("--text", choices.text, "file to learn from")->capture_default_str();
  app.add_option("--batch", choices.batch, "sequences a step")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--layers", choices.model.layers, "blocks")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--hidden", choices.model.hidden, "width, a multiple of 8 heads")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--sequence", choices.model.sequence, "bytes a sequence")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--sample", choices.sample, "bytes to write at the end")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--save", choices.save, "safetensors file for the whole state");
  CLI11_PARSE(app, argc, argv);
  return examples::run([&] { train(choices); });
}
