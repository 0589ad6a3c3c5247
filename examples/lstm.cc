// Trains a language model of long short-term memories on the bytes of a text.
#include "models/lstm.h"

#include "train.h"

namespace {

using alpa::Array;

struct Batch {
  Array tokens, labels;  // s32 [B,S]
  ALPA_PYTREE(tokens, labels)
};

struct Choices : examples::Options {
  std::string text = examples::default_text();
};

void train_model(const Choices& choices) {
  alpa::init("local", {.num_devices = choices.devices});
  const examples::Text text(choices.text);
  const models::LstmModel params = models::init_lstm(alpa::random::key(static_cast<uint64_t>(choices.seed)),
                                                     {.vocabulary = 256, .hidden = 128, .layers = 2});
  const auto loss = [](const models::LstmModel& model, const Batch& batch) {
    return alpa::mean(alpa::softmax_cross_entropy(model(batch.tokens), batch.labels));
  };
  constexpr int64_t kBatch = 16, kSequence = 32;
  const auto next = [&](std::mt19937_64& random) {
    const auto [tokens, labels] = text.batch(random, kBatch, kSequence);
    return Batch{tokens, labels};
  };
  const auto optimizer =
      alpa::optim::chain(alpa::optim::clip_by_global_norm(1.0), alpa::optim::adam({.learning_rate = 3e-3}));
  examples::train(choices, params, optimizer, loss, next, "tokens", kBatch * kSequence);
  alpa::shutdown();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains an LSTM on a text, byte by byte");
  Choices choices;
  examples::add_options(app, choices, 100);
  app.add_option("--text", choices.text, "file to learn from")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return examples::run([&] { train_model(choices); });
}
