#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include "alpa/alpa.h"
#include "alpa/api/cluster_state.h"
#include "alpa/api/testing/message_of.h"
#include "alpa/base/error.h"
#include "alpa/pjrt/testing/plugin_path.h"
#include "alpa/plan/plan.h"

/// Gradient accumulation: a step that runs its batch in parts.
namespace alpa {
namespace {

using testing::AllOf;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Not;
using testing::Pointwise;

// Over the two plug-ins.
class MicroBatches : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { init("local", {.num_devices = 8, .plugin = pjrt::plugin_path(GetParam())}); }
  void TearDown() override {
    if (is_initialized()) shutdown();
  }
};

// {0, 0.1, 0.2, ...}
Array tenths(const Dims& dims) {
  std::vector<float> values(static_cast<size_t>(dims[0] * dims[1]));
  for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k) / 10;
  return Array::from(values, dims);
}

Array summed_square(const Array& w, const Array& x) { return sum(square(matmul(x, w))); }

ParallelizeOptions with(AnyMethod method) { return {.donate_argnums = std::vector<int>{}, .method = method}; }

void expect_near(const Array& array, const std::vector<float>& expected, float tolerance = 1e-4f) {
  EXPECT_THAT(array.to_vector<float>(), Pointwise(FloatNear(tolerance), expected));
}

TEST_P(MicroBatches, ASumsValueAndGradientAreMeansOverThem) {
  const auto both = [](const Array& w, const Array& x) { return value_and_grad(summed_square)(w, x); };
  const auto [whole, whole_gradient] = parallelize(both, with(ShardParallel()))(ones({3}), tenths({8, 3}));
  EXPECT_NEAR(whole.item<float>(), 129.24, 1e-3);
  for (const AnyMethod& method :
       {AnyMethod(ShardParallel({8}, 4)), AnyMethod(ShardParallel({2, 4}, 4)), AnyMethod(ShardParallel({1}, 4))}) {
    const auto [value, gradient] = parallelize(both, with(method))(ones({3}), tenths({8, 3}));
    EXPECT_NEAR(value.item<float>(), 32.31, 1e-4);
    expect_near(gradient, {20.16f, 21.54f, 22.92f});
  }
  const auto [value, gradient] = parallelize(both, with(DataParallel(4)))(ones({3}), tenths({64, 3}));
  const auto [all, all_gradient] = both(ones({3}), tenths({64, 3}));
  EXPECT_NEAR(value.item<float>(), all.item<float>() / 4, 1e-1);
  expect_near(gradient, (all_gradient / 4).to_vector<float>(), 1e-1f);
}

TEST_P(MicroBatches, AuxiliaryFloatsAreMeansAndOthersTheLastOnes) {
  const auto step = [](const Array& w, const Array& x) {
    const auto loss = [&](const Array& v) {
      const Array rows = sum(x, {1});
      const std::vector<Array> aux = {rows, sum(x.astype(DType::kS32)), x > 1.25, matmul(x, v).astype(DType::kBF16)};
      return std::pair(summed_square(v, x), aux);
    };
    return value_and_grad(loss)(w);
  };
  const auto [value, gradient] = parallelize(step, with(ShardParallel({8}, 4)))(ones({3}), tenths({8, 3}));
  EXPECT_NEAR(value.first.item<float>(), 32.31, 1e-4);
  expect_near(gradient, {20.16f, 21.54f, 22.92f});
  expect_near(value.second[0], {3.0f, 3.9f});                     // of rows 0 2 4 6 and 1 3 5 7
  EXPECT_EQ(value.second[1].item<int>(), 1 + 1 + 2 + 2 + 2 + 2);  // 1.8 1.9 2.0 2.1 2.2 2.3, cut
  EXPECT_EQ(value.second[2].dtype(), DType::kPred);
  EXPECT_EQ(value.second[2].astype(DType::kS32).to_vector<int>(), std::vector<int>(6, 1));
  EXPECT_EQ(value.second[3].dtype(), DType::kBF16);
  expect_near(value.second[3].astype(DType::kF32), {3.0f, 3.9f}, 0.02f);
}

TEST_P(MicroBatches, ThreeRowsEachOnEightDevices) {
  const auto both = [](const Array& w, const Array& x) { return value_and_grad(summed_square)(w, x); };
  const auto [value, gradient] = parallelize(both, with(ShardParallel({8}, 4)))(ones({3}), tenths({12, 3}));
  const auto [all, all_gradient] = both(ones({3}), tenths({12, 3}));
  EXPECT_NEAR(value.item<float>(), all.item<float>() / 4, 1e-3);
  expect_near(gradient, (all_gradient / 4).to_vector<float>(), 1e-3f);
}

// In bf16 256 + 1 is 256.
TEST_P(MicroBatches, SumsOfNarrowFloatsAreKeptInF32) {
  const auto step = [](const Array& w, const Array& x) { return grad([&](const Array& v) { return sum(v * x); })(w); };
  std::vector<float> rows = {256, 1, 1, 1, 1, 1, 1, 2};
  const Array x = Array::from(rows, {8}).astype(DType::kBF16);
  const auto run = parallelize(step, with(ShardParallel({8}, 8)));
  const Array gradient = run(ones({}, DType::kBF16), x);
  EXPECT_EQ(gradient.dtype(), DType::kBF16);
  EXPECT_EQ(gradient.astype(DType::kF32).item<float>(), 33);
}

TEST_P(MicroBatches, OnlyTheOutermostGradientIsAccumulated) {
  const auto step = [](const Array& w, const Array& x) {
    const auto slope = [&](const Array& v) { return sum(square(grad(summed_square)(v, x))); };
    return value_and_grad(slope)(w);
  };
  const auto [value, gradient] = parallelize(step, with(ShardParallel({8}, 2)))(ones({3}), tenths({8, 3}));
  const auto run = [&](int64_t from) {
    return step(ones({3}), Array::from(std::vector<float>([&] {
                                         const auto all = tenths({8, 3}).to_vector<float>();
                                         return std::vector<float>(all.begin() + from * 3,
                                                                   all.begin() + (from + 4) * 3);
                                       }()),
                                       {4, 3}));
  };
  const auto [first, first_gradient] = run(0);
  const auto [second, second_gradient] = run(4);
  const float mean = (first.item<float>() + second.item<float>()) / 2;
  EXPECT_NEAR(value.item<float>(), mean, 1e-4 * mean);
  expect_near(gradient, ((first_gradient + second_gradient) / 2).to_vector<float>(), 1e-1f);
}

TEST_P(MicroBatches, WhatFollowsTheGradientsRunsOnce) {
  const auto step = [](const Array& w, const Array& x) {
    const Array decay = exp(-w);  // needed before and after, of no batch
    auto [loss, gradient] = value_and_grad([&](const Array& v) { return summed_square(v, x) + sum(decay * v); })(w);
    const Array norm = sqrt(sum(square(gradient)));
    return std::tuple(w - gradient / norm - decay, loss, norm);
  };
  const auto [w, loss, norm] = parallelize(step, with(ShardParallel({8}, 4)))(ones({3}), tenths({8, 3}));
  const float e = std::exp(-1.0f);
  const std::vector<float> g = {20.16f + e, 21.54f + e, 22.92f + e};
  const float length = std::sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  EXPECT_NEAR(loss.item<float>(), 32.31 + 3 * e, 1e-4);
  EXPECT_NEAR(norm.item<float>(), length, 1e-3);
  expect_near(w, {1 - g[0] / length - e, 1 - g[1] / length - e, 1 - g[2] / length - e});
}

TEST_P(MicroBatches, IntegersOfTheBatchThatPassTheGradientsByAreTheLastOnes) {
  const auto step = [](const Array& w, const Array& x) {
    return std::pair(grad(summed_square)(w, x), argmax(sum(x, {1}), 0) + sum(x.astype(DType::kS32)));
  };
  const auto [gradient, last] = parallelize(step, with(ShardParallel({8}, 4)))(ones({3}), tenths({8, 3}));
  expect_near(gradient, {20.16f, 21.54f, 22.92f});
  EXPECT_EQ(last.item<int>(), 1 + 10);
}

struct State {
  Array w, momentum, step;
  ALPA_STATE(w, momentum, step)
};
struct Batch {
  Array x, y;
  ALPA_PYTREE(x, y)
};

std::pair<State, Array> train(State state, const Batch& batch) {
  const auto loss_of = [&](const Array& w) { return mean(square(tanh(matmul(batch.x, w)) - batch.y)); };
  auto [loss, gradient] = value_and_grad(loss_of)(state.w);
  state.momentum = 0.9 * state.momentum + gradient;
  state.w = state.w - 0.1 * state.momentum;
  state.step = state.step + 1;
  return {state, loss};
}

State first_state() { return {tenths({16, 8}) / 10, zeros({16, 8}), full({}, 0, DType::kS32)}; }
Batch a_batch() { return {cos(tenths({64, 16})), sin(tenths({64, 8}))}; }

TEST_P(MicroBatches, TrainAsTheWholeBatchDoes) {
  for (const AnyMethod& method :
       {AnyMethod(ShardParallel({8}, 4)), AnyMethod(ShardParallel({2, 4}, 2)), AnyMethod(DataParallel(4)),
        AnyMethod(Zero2Parallel(4)), AnyMethod(Zero3Parallel(2))}) {
    State single = first_state(), state = first_state();
    const auto step = parallelize(train, {.method = method});
    for (int k = 0; k < 5; ++k) {
      Array loss, expected;
      std::tie(single, expected) = train(single, a_batch());
      std::tie(state, loss) = step(std::move(state), a_batch());
      EXPECT_NEAR(loss.item<float>(), expected.item<float>(), 1e-5);
    }
    EXPECT_EQ(state.step.item<int>(), 5);
    expect_near(state.w, single.w.to_vector<float>(), 1e-5f);
    expect_near(state.momentum, single.momentum.to_vector<float>(), 1e-5f);
  }
}

TEST_P(MicroBatches, PreshardedBatchesLieInPartsAndAreKept) {
  const auto step = parallelize(train, {.method = ShardParallel({8}, 4)});
  const auto [state, batch] = step.preshard_dynamic_args(first_state(), a_batch());
  EXPECT_EQ(batch.x.shape(), a_batch().x.shape());
  EXPECT_EQ(batch.x.to_vector<float>(), a_batch().x.to_vector<float>());
  const auto again = std::get<1>(step.preshard_dynamic_args(first_state(), batch));
  EXPECT_EQ(again.x.known_value(), batch.x.known_value());
  const float expected = train(first_state(), a_batch()).second.item<float>();
  EXPECT_NEAR(step(state, batch).second.item<float>(), expected, 1e-5);
  EXPECT_NEAR(step(first_state(), batch).second.item<float>(), expected, 1e-5);
  EXPECT_NEAR(mean(batch.x).item<float>(), mean(a_batch().x).item<float>(), 1e-5);
}

TEST_P(MicroBatches, ADonatedBatchIsFreed) {
  const auto step = parallelize(train, {.donate_argnums = std::vector{0, 1}, .method = ShardParallel({8}, 4)});
  const auto [state, batch] = step.preshard_dynamic_args(first_state(), a_batch());
  const Batch fresh = a_batch();
  EXPECT_GT(step(state, batch).second.item<float>(), 0);
  EXPECT_TRUE(batch.x.known_value()->is_deleted());
  EXPECT_THAT(message_of([&] { step(first_state(), batch); }), AllOf(HasSubstr("args[1].x"), HasSubstr("donated")));
  EXPECT_GT(step(first_state(), fresh).second.item<float>(), 0);
}

TEST_P(MicroBatches, ExecutablesTellOfBothPrograms) {
  const auto step = parallelize(train, {.method = ShardParallel({8}, 4)});
  const auto executable = step.get_executable(first_state(), a_batch());
  const std::string text = executable->get_hlo_text();
  const size_t first = text.find("ENTRY");
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(text.find("ENTRY", first + 1), std::string::npos);
  EXPECT_THAT(executable->get_input_placement_specs().at(3).to_string(), HasSubstr("4 x f32[16,16]"));
  EXPECT_THAT(executable->get_plan(), HasSubstr("\"micro_batches\":4"));
  const int64_t batch_bytes = 64 * (16 + 8) * 4 / 8;
  EXPECT_GT(executable->get_total_allocation_size(), batch_bytes);
}

// As many bytes of gradients as without micro-batches, of all kinds together: a program may sum a few bytes whole.
TEST_P(MicroBatches, GradientsAreCommunicatedOnceAStep) {
  const auto plan_of = [](const AnyMethod& method) {
    const auto executable = parallelize(train, {.method = method}).get_executable(first_state(), a_batch());
    return plan::plan_from_json(executable->get_plan(), "plan");
  };
  const auto sums = [](const plan::Plan& plan) {
    double bytes = 0;
    for (const char* kind : {"all-reduce", "reduce-scatter"})
      bytes += plan.collectives.contains(kind) ? plan.collectives.at(kind).bytes : 0;
    return bytes;
  };
  const double gradients = (16 * 8 + 1) * 4;  // and the loss
  for (const AnyMethod& method : {AnyMethod(DataParallel(1)), AnyMethod(DataParallel(4)), AnyMethod(Zero2Parallel(1)),
                                  AnyMethod(Zero2Parallel(4)), AnyMethod(Zero3Parallel(4))})
    EXPECT_EQ(sums(plan_of(method)), gradients);
  const std::string text =
      parallelize(train, {.method = DataParallel(4)}).get_executable(first_state(), a_batch())->get_hlo_text();
  const size_t apply = text.rfind("ENTRY");
  EXPECT_EQ(text.find("all-reduce("), text.find("all-reduce(", apply)) << "only in what runs once a step";
}

TEST_P(MicroBatches, NothingGrowsWithSteps) {
  const auto step = parallelize(train, {.method = ShardParallel({8}, 2)});
  State state = first_state();
  const Batch batch = a_batch();
  Array loss;
  const auto run = [&](int steps) {
    for (int k = 0; k < steps; ++k) std::tie(state, loss) = step(std::move(state), batch);
    step.get_last_executable()->sync();
    return static_cast<int64_t>(mallinfo2().uordblks);
  };
  // The plug-ins free some of what a run leaves only every thousand steps: the least of many such times counts.
  constexpr int kSteps = 100, kTimes = 12;
  const auto least = [&] {
    int64_t bytes = run(kSteps);
    for (int k = 1; k < kTimes; ++k) bytes = std::min(bytes, run(kSteps));
    return bytes;
  };
  run(4 * kSteps);  // stores of the plug-ins' own are filled
  const int64_t arrays = api::cluster()->arrays.count();
  const int64_t before = least();
  EXPECT_LT(least() - before, 128 * kSteps * kTimes);
  EXPECT_EQ(api::cluster()->arrays.count(), arrays);
}

TEST_P(MicroBatches, BatchesThatTheyDoNotDivideAreNamed) {
  const auto both = [](const Array& w, const Array& x) { return value_and_grad(summed_square)(w, x); };
  const auto refused = [&](int64_t rows, AnyMethod method) {
    return message_of([&] { parallelize(both, with(method))(ones({3}), tenths({rows, 3})); });
  };
  EXPECT_THAT(refused(10, ShardParallel({8}, 4)),
              AllOf(HasSubstr("args[1]"), HasSubstr("10"), HasSubstr("num_micro_batches = 4")));
  EXPECT_THAT(refused(8, ShardParallel({8}, 16)),
              AllOf(HasSubstr("args[1]"), HasSubstr("8 rows"), HasSubstr("num_micro_batches = 16")));
  for (const int64_t count : {int64_t{0}, int64_t{-1}})
    EXPECT_THAT(refused(8, ShardParallel({8}, count)), HasSubstr("num_micro_batches is " + std::to_string(count)));
  EXPECT_THAT(refused(16, DataParallel(4)),
              AllOf(HasSubstr("args[1]"), HasSubstr("4 micro-batches"), HasSubstr("is 4"), HasSubstr("8 devices")));
  const auto step = parallelize(train, {.method = ShardParallel({8}, 2)});
  EXPECT_THAT(message_of([&] { step(first_state(), Batch{ones({8, 16}), ones({6, 8})}); }),
              AllOf(HasSubstr("args[1].x"), HasSubstr("args[1].y"), HasSubstr("8 rows"), HasSubstr("6")));
  EXPECT_THAT(message_of([&] {
                parallelize(both, {.batch_argnums = {}, .method = ShardParallel({8}, 2)})(ones({3}), tenths({8, 3}));
              }),
              AllOf(HasSubstr("num_micro_batches = 2"), HasSubstr("batch_argnums")));
}

TEST_P(MicroBatches, StepsThatCannotBeSplitAreRefused) {
  const auto refused = [&](auto function, auto tag) {
    return message_of<decltype(tag)>(
        [&] { parallelize(function, with(ShardParallel({8}, 4)))(ones({3}), tenths({8, 3})); });
  };
  const InvalidArgumentError invalid("");
  EXPECT_THAT(refused([](const Array& w, const Array& x) { return matmul(x, w); }, invalid),
              AllOf(HasSubstr("gradient marker"), HasSubstr("value_and_grad")));
  EXPECT_THAT(refused([](const Array& w, const Array& x) { return std::pair(grad(summed_square)(w, x), matmul(x, w)); },
                      invalid),
              AllOf(HasSubstr("output result[1]"), HasSubstr("auxiliary output")));
  EXPECT_THAT(refused([](const Array& w, const Array& x) { return grad(summed_square)(w, x) + mean(x); }, invalid),
              AllOf(HasSubstr("depends on the batch"), HasSubstr("auxiliary output")));
  EXPECT_THAT(refused(
                  [](const Array& w, const Array& x) {
                    const Array moved = w - grad(summed_square)(w, x);
                    return moved - grad(summed_square)(moved, x);
                  },
                  UnsupportedError("")),
              HasSubstr("comes after another one"));
}

TEST_P(MicroBatches, SeveralGradientsOfOneStepAreAccumulatedTogether) {
  const auto step = [](const Array& w, const Array& x) {
    return std::pair(grad(summed_square)(w, x), grad([&](const Array& v) { return sum(matmul(x, v)); })(w));
  };
  const auto [square, linear] = parallelize(step, with(ShardParallel({8}, 4)))(ones({3}), tenths({8, 3}));
  expect_near(square, {20.16f, 21.54f, 22.92f});
  expect_near(linear, {2.1f, 2.3f, 2.5f});
}

INSTANTIATE_TEST_SUITE_P(PlugIns, MicroBatches, testing::Values("lammps", "xla"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace alpa
