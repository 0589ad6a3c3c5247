// Trains a language model with a mixture of experts in every second block on the bytes of a text.
#include "models/gpt.h"
#include "train.h"

namespace {

using alpa::Array;

struct Batch {
  Array tokens, labels;  // s32 [B,S]
  ALPA_PYTREE(tokens, labels)
};

struct Choices : examples::Options {
  std::string text = examples::default_text();
  int64_t experts = 8;
};

void train_model(const Choices& choices) {
  alpa::init("local", {.num_devices = choices.devices});
  const examples::Text text(choices.text);
  constexpr int64_t kBatch = 16, kSequence = 32;
  const models::GptConfig config{.vocabulary = 256,
                                 .sequence = kSequence,
                                 .hidden = 64,
                                 .layers = 2,
                                 .heads = 4,
                                 .experts = choices.experts,
                                 .group = 64};
  const models::Gpt params = models::init_gpt(alpa::random::key(static_cast<uint64_t>(choices.seed)), config);
  const auto loss = [](const models::Gpt& gpt, const Batch& batch) {
    return models::gpt_loss(gpt, batch.tokens, batch.labels);
  };
  const auto next = [&](std::mt19937_64& random) {
    const auto [tokens, labels] = text.batch(random, kBatch, kSequence);
    return Batch{tokens, labels};
  };
  const auto optimizer =
      alpa::optim::chain(alpa::optim::clip_by_global_norm(1.0), alpa::optim::adamw({.learning_rate = 3e-3}));
  examples::train(choices, params, optimizer, loss, next, "tokens", kBatch * kSequence);
  alpa::shutdown();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains a small GPT with a mixture of experts on a text, byte by byte");
  Choices choices;
  examples::add_options(app, choices, 100);
  app.add_option("--text", choices.text, "file to learn from")->capture_default_str();
  app.add_option("--experts", choices.experts, "experts in every second block")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  return examples::run([&] { train_model(choices); });
}
