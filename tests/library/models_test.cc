#include "fixture.h"
#include "models/gpt.h"
#include "models/lstm.h"
#include "models/mlp.h"
#include "models/unet.h"
#include "models/vit.h"
#include "models/wide_resnet.h"

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
  expect_training(fixture, state, batch, step, without_brackets);
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

void expect_gpt(const std::string& model, const models::GptConfig& config) {
  const Fixture fixture(model);
  const auto optimizer = transformer_optimizer();
  const models::Gpt like = models::init_gpt(alpa::random::key(0), config);
  const auto state = alpa::optim::create_train_state(optimizer, fixture.params(like, gpt_name));
  const Text batch{Array(fixture.inputs.at("batch.tokens")), Array(fixture.inputs.at("batch.labels"))};
  const auto step = [&](const auto& before, const Text& text) {
    const auto [loss, gradients] = alpa::value_and_grad(
        [&](const models::Gpt& gpt) { return models::gpt_loss(gpt, text.tokens, text.labels); })(before.params);
    return std::pair(before.apply_gradients(optimizer, gradients), loss);
  };
  expect_training(fixture, state, batch, step, gpt_name);
}

TEST_P(Models, GptTrainsAsInJax) { expect_gpt("gpt", {}); }

TEST_P(Models, MoeTrainsAsInJax) {
  expect_gpt("moe", {.hidden = 32, .layers = 2, .heads = 4, .experts = 8, .group = 64});
}

struct Labelled {
  Array image, label;
  ALPA_PYTREE(image, label)
};

TEST_P(Models, VitTrainsAsInJax) {
  const Fixture fixture("vit");
  const auto optimizer = transformer_optimizer();
  const auto name = [](std::string path) {
    const std::string blocks = "blocks[";
    if (path.starts_with(blocks)) path = "l" + path.substr(blocks.size(), 1) + "_" + path.substr(blocks.size() + 3);
    return path;
  };
  const auto state =
      alpa::optim::create_train_state(optimizer, fixture.params(models::init_vit(alpa::random::key(0), {}), name));
  const Labelled batch{Array(fixture.inputs.at("batch.image")), Array(fixture.inputs.at("batch.label"))};
  const auto step = [&](const auto& before, const Labelled& data) {
    const auto [loss, gradients] = alpa::value_and_grad([&](const models::Vit& vit) {
      return alpa::mean(alpa::softmax_cross_entropy(vit(data.image), data.label));
    })(before.params);
    return std::pair(before.apply_gradients(optimizer, gradients), loss);
  };
  expect_training(fixture, state, batch, step, name);
}

TEST_P(Models, LstmTrainsAsInJax) {
  const Fixture fixture("lstm");
  const auto optimizer = alpa::optim::chain(alpa::optim::clip_by_global_norm(1.0),
                                            alpa::optim::adam({.learning_rate = 1e-3, .eps = 1e-6}));
  // "cells[1].state.f.kernel" -> "OptimizedLSTMCell_1.hf.kernel"; "cells[0].input.i" ->
  // "OptimizedLSTMCell_0.ii.kernel".
  const auto name = [](std::string path) {
    if (path == "embedding") return std::string("emb.embedding");
    const std::string cells = "cells[", state = "].state.", input = "].input.";
    if (!path.starts_with(cells)) return path;
    const std::string cell = "OptimizedLSTMCell_" + path.substr(cells.size(), 1) + ".";
    const std::string rest = path.substr(cells.size() + 1);
    if (rest.starts_with(input)) return cell + "i" + rest.substr(input.size()) + ".kernel";
    return cell + "h" + rest.substr(state.size());
  };
  const auto state =
      alpa::optim::create_train_state(optimizer, fixture.params(models::init_lstm(alpa::random::key(0), {}), name));
  const Text batch{Array(fixture.inputs.at("batch.tokens")), Array(fixture.inputs.at("batch.labels"))};
  const auto step = [&](const auto& before, const Text& text) {
    const auto [loss, gradients] = alpa::value_and_grad([&](const models::LstmModel& model) {
      return alpa::mean(alpa::softmax_cross_entropy(model(text.tokens), text.labels));
    })(before.params);
    return std::pair(before.apply_gradients(optimizer, gradients), loss);
  };
  expect_training(fixture, state, batch, step, name);
}

struct Diffusion {
  Array image, noise, t;
  ALPA_PYTREE(image, noise, t)
};

TEST_P(Models, UnetTrainsAsInJax) {
  const Fixture fixture("unet");
  const auto optimizer = alpa::optim::adam({.learning_rate = 1e-3, .eps = 1e-6});
  // "d2a.attn.qkv.kernel" -> "d2a.qkv.kernel", "d2a.norm.scale" -> "d2a_n.scale".
  const auto name = [](std::string path) {
    if (const size_t at = path.find(".attn."); at != std::string::npos) path.erase(at, 5);
    if (const size_t at = path.find(".norm."); at != std::string::npos) path.replace(at, 5, "_n");
    return path;
  };
  const auto state =
      alpa::optim::create_train_state(optimizer, fixture.params(models::init_unet(alpa::random::key(0), {}), name));
  const Diffusion batch{Array(fixture.inputs.at("batch.image")), Array(fixture.inputs.at("batch.noise")),
                        Array(fixture.inputs.at("batch.t"))};
  const auto step = [&](const auto& before, const Diffusion& data) {
    const auto [loss, gradients] = alpa::value_and_grad([&](const models::Unet& unet) {
      const Array time = data.t.astype(alpa::DType::kF32);
      const Array a = alpa::expand_dims(alpa::cos(time / 1000 * (M_PI / 2)), {1, 2, 3});
      const Array x = a * data.image + alpa::sqrt(1 - a * a + 1e-6) * data.noise;
      return alpa::mean(alpa::square(unet(x, time) - data.noise));
    })(before.params);
    return std::pair(before.apply_gradients(optimizer, gradients), loss);
  };
  expect_training(fixture, state, batch, step, name);
}

struct ResNetState {
  models::WideResNet params;
  models::WideResNetStatistics running;
  alpa::optim::SlotState<models::WideResNet> momentum;
  ALPA_STATE(params, running, momentum)
};

TEST_P(Models, WideResnetTrainsAsInJax) {
  const Fixture fixture("wide_resnet");
  const auto decay = alpa::optim::add_decayed_weights(1e-4);
  const auto optimizer = alpa::optim::sgd({.learning_rate = 0.05, .momentum = 0.9, .nesterov = true});
  // "blocks[1].bn2.scale" -> "s1b0.bn2.scale".
  const auto name = [](std::string path) {
    const std::string blocks = "blocks[";
    if (path.starts_with(blocks)) path = "s" + path.substr(blocks.size(), 1) + "b0" + path.substr(blocks.size() + 2);
    return path;
  };
  const auto [net, statistics] = models::init_wide_resnet(alpa::random::key(0), {});
  ResNetState state;
  state.params = fixture.params(net, name);
  state.running = fixture.params(statistics, name, "extra.");
  state.momentum = optimizer.init(state.params);
  const auto no_state = decay.init(state.params);
  const Labelled batch{Array(fixture.inputs.at("batch.image")), Array(fixture.inputs.at("batch.label"))};
  const auto step = [&](ResNetState before, const Labelled& data) {
    const auto [both, gradients] = alpa::value_and_grad([&](const models::WideResNet& model) {
      models::WideResNetStatistics running = before.running;
      const Array logits = model(data.image, running);
      return std::pair(alpa::mean(alpa::softmax_cross_entropy(logits, data.label)), running);
    })(before.params);
    const auto decayed = decay.update(gradients, no_state, before.params).first;
    auto [updates, momentum] = optimizer.update(decayed, before.momentum, before.params);
    return std::pair(ResNetState{alpa::optim::apply_updates(before.params, updates), both.second, momentum},
                     both.first);
  };
  expect_training(fixture, state, batch, step, name);
}

INSTANTIATE_TEST_SUITE_P(Devices, Models, testing::Values(1, 8));

}  // namespace
}  // namespace library_test
