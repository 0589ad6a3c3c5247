#include "alpa/api/create_state_parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alpa/alpa.h"
#include "alpa/api/testing/message_of.h"
#include "alpa/base/error.h"
#include "alpa/pjrt/testing/plugin_path.h"

/// A state that is made where a training step wants it.
namespace alpa {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Params {
  std::vector<Array> w, b;
  ALPA_PYTREE(w, b)
};

const auto kOptimizer = optim::adam({.learning_rate = 1e-2});
using OptState = decltype(kOptimizer.init(Params()));
using State = optim::TrainState<Params, OptState>;

struct Batch {
  Array x, y;
  ALPA_PYTREE(x, y)
};

constexpr const char* kDefaultPlugin = "lammps-jax-pjrt-cpu";
constexpr int kLayers = 4;
constexpr int64_t kWidth = 32;

State create_state() {
  Array key = random::key(7);
  Params params;
  for (int layer = 0; layer < kLayers; ++layer) {
    const Array keys = random::split(key, 3);
    params.w.push_back(0.2 * random::normal(keys(0), {kWidth, kWidth}));
    params.b.push_back(random::uniform(keys(1), {kWidth}));
    key = keys(2);
  }
  return optim::create_train_state(kOptimizer, params);
}

std::pair<State, Array> train_step(const State& state, const Batch& batch) {
  const auto [loss, gradients] = value_and_grad([&](const Params& params) {
    Array h = batch.x;
    for (size_t k = 0; k < params.w.size(); ++k) h = tanh(matmul(h, params.w[k]) + params.b[k]);
    return mean(square(h - batch.y));
  })(state.params);
  return {state.apply_gradients(kOptimizer, gradients), loss};
}

Batch a_batch() {
  return {random::normal(random::key(1), {64, kWidth}), random::uniform(random::key(2), {64, kWidth})};
}

void expect_same(const State& expected, const State& got, double tolerance) {
  const std::vector<Array> a = tree_leaves(expected), b = tree_leaves(got);
  const std::vector<std::string> names = tree_paths(expected);
  ASSERT_EQ(a.size(), b.size());
  for (size_t k = 0; k < a.size(); ++k) {
    const tensor::Literal x = a[k].to_host(), y = b[k].to_host();
    ASSERT_EQ(x.shape(), y.shape()) << names[k];
    if (tolerance == 0) {
      EXPECT_TRUE(std::ranges::equal(x.bytes(), y.bytes())) << names[k];
    }
    for (int64_t i = 0; i < a[k].size(); ++i) ASSERT_NEAR(x.at(i), y.at(i), tolerance) << names[k] << " " << i;
  }
}

// Over the two plug-ins.
class CreateState : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { init("local", {.num_devices = 8, .plugin = pjrt::plugin_path(GetParam())}); }
  void TearDown() override { shutdown(); }
};

TEST_P(CreateState, LiesWhereTheStepWantsItAndIsThatOfOneDevice) {
  const Batch batch = a_batch();
  const State single = create_state();
  const auto [single_next, single_loss] = train_step(single, batch);
  std::vector<AnyMethod> methods = {ShardParallel({8}, 2), Zero2Parallel()};
  if (std::string(GetParam()) == kDefaultPlugin)
    methods.insert(methods.end(), {ShardParallel({2, 4}), DataParallel(), Zero2Parallel(2), Zero3Parallel()});
  for (const AnyMethod& method : methods) {
    SCOPED_TRACE(method->name() + " " + std::to_string(method->num_micro_batches));
    const auto train = parallelize(train_step, {.method = method});
    const auto create = parallelize(create_state, {.method = CreateStateParallel(train, batch)});
    const State state = create();
    expect_same(single, state, 0);
    const std::vector<PlacementSpec> made = create.get_last_executable()->get_output_placement_specs();
    const std::vector<PlacementSpec> wanted = train.get_last_executable()->get_input_placement_specs();
    ASSERT_EQ(made.size(), tree_leaves(state).size());
    for (size_t k = 0; k < made.size(); ++k) EXPECT_EQ(made[k], wanted.at(k)) << wanted[k].name;
    const auto placed = train.preshard_dynamic_args(state, batch);
    EXPECT_EQ(tree_leaves(std::get<0>(placed))[0].value(), tree_leaves(state)[0].value());  // used where it lies
    const auto [next, loss] = train(state, batch);
    EXPECT_NEAR(loss.item<float>(), single_loss.item<float>(), 1e-5);
    expect_same(single_next, next, 1e-4);
  }
}

TEST_P(CreateState, OfAStepThatIsATemplate) {
  const auto train = parallelize([](const auto& state, const Batch& batch) { return train_step(state, batch); },
                                 {.method = Zero3Parallel()});
  const Batch shapes = tree_map(a_batch(), [](const Array& array) { return shape_dtype_struct(array.shape()); });
  const auto create = parallelize(create_state, {.method = CreateStateParallel::of<State>(train, shapes)});
  EXPECT_THAT(create.get_executable()->get_output_placement_specs()[0].to_string(), HasSubstr("x"));
  expect_same(create_state(), create(), 0);
}

TEST_P(CreateState, OtherThanTheStepTakesIsRefused) {
  const auto train = parallelize(train_step);
  const auto both = parallelize([] { return std::pair(create_state(), Array(1)); },
                                {.method = CreateStateParallel(train, a_batch())});
  EXPECT_THAT(message_of([&] { both(); }), AllOf(HasSubstr("CreateStateParallel"), HasSubstr("TrainState")));
}

TEST_P(CreateState, ShapesAloneHaveNoValue) {
  const Array shape = shape_dtype_struct(Shape(DType::kF32, {8}));
  EXPECT_THAT(message_of([&] { shape.to_host(); }), HasSubstr("f32[8]"));
  const auto twice = parallelize([](const Array& x) { return x + x; });
  EXPECT_EQ(twice.get_executable(shape)->get_output_placement_specs()[0].shape, shape.shape());
  EXPECT_THAT(message_of([&] { twice(shape); }), HasSubstr("f32[8]"));
}

INSTANTIATE_TEST_SUITE_P(Plugins, CreateState, testing::Values(kDefaultPlugin, "xla-cpu-pjrt"));

}  // namespace
}  // namespace alpa
