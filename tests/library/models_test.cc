#include "fixture.h"
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

INSTANTIATE_TEST_SUITE_P(Devices, Models, testing::Values(1, 8));

}  // namespace
}  // namespace library_test
