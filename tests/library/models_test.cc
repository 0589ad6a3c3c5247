#include "fixture.h"
#include "models/gpt.h"
#include "models/mlp.h"

namespace library_test {
namespace {

/// Number of devices.
class Models : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { alpa::init("local", {.num_devices = GetParam()}); }
  void TearDown() override { alpa::shutdown(); }
};

struct Regression {
  Array x, y;
  ALPA_PYTREE(x, y)
};

TEST_P(Models, MlpTrainsAsInJax) {
  const Fixture fixture("mlp");
  const auto optimizer = alpa::optim::adam({.learning_rate = 1e-3, .eps = 1e-6});
  const models::Mlp like = models::init_mlp(alpa::random::key(0), {64, 256, 256, 256, 16});
  const auto state = alpa::optim::create_train_state(optimizer, fixture.params(like, without_brackets));
  const Regression batch{Array(fixture.inputs.at("batch.x")), Array(fixture.inputs.at("batch.y"))};
  const auto step = [&](const auto& before, const Regression& data) {
    const auto [loss, gradients] = alpa::value_and_grad(
        [&](const models::Mlp& mlp) { return alpa::mean(alpa::square(mlp(data.x) - data.y)); })(before.params);
    return std::pair(before.apply_gradients(optimizer, gradients), loss);
  };
  expect_training(fixture, GetParam(), state, batch, step, without_brackets);
}

struct Text {
  Array tokens, labels;
  ALPA_PYTREE(tokens, labels)
};

/// "blocks[2].attn.qkv.kernel" -> "h02_attn.qkv.kernel".
std::string gpt_name(std::string path) {
  if (path == "wte") return "wte.embedding";
  const std::string blocks = "blocks[";
  if (path.starts_with(blocks)) path = "h0" + path.substr(blocks.size(), 1) + "_" + path.substr(blocks.size() + 3);
  return path;
}

/// AdamW after clipping, as all transformer fixtures have it.
auto transformer_optimizer() {
  return alpa::optim::chain(alpa::optim::clip_by_global_norm(1.0),
                            alpa::optim::adamw({.learning_rate = 1e-3, .eps = 1e-6, .weight_decay = 0.01}));
}

void expect_gpt(const std::string& model, int devices, const models::GptConfig& config) {
  const Fixture fixture(model);
  const auto optimizer = transformer_optimizer();
  const models::Gpt like = models::init_gpt(alpa::random::key(0), config);
  const auto state = alpa::optim::create_train_state(optimizer, fixture.params(like, gpt_name));
  const Text batch{Array(fixture.inputs.at("batch.tokens")), Array(fixture.inputs.at("batch.labels"))};
  const auto step = [&](const auto& before, const Text& text) {
    const auto [loss, gradients] = alpa::value_and_grad([&](const models::Gpt& gpt) {
      return models::gpt_loss(gpt, text.tokens, text.labels);
    })(before.params);
    return std::pair(before.apply_gradients(optimizer, gradients), loss);
  };
  expect_training(fixture, devices, state, batch, step, gpt_name);
}

TEST_P(Models, GptTrainsAsInJax) { expect_gpt("gpt", GetParam(), {}); }

INSTANTIATE_TEST_SUITE_P(Devices, Models, testing::Values(1, 8));

}  // namespace
}  // namespace library_test
