#include "alpa/api/follow_parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alpa/alpa.h"
#include "alpa/api/testing/message_of.h"
#include "alpa/base/error.h"

/// A step that takes arguments where another has them.
namespace alpa {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Params {
  std::vector<Array> w;
  ALPA_PYTREE(w)
};

struct State {
  Params params;
  Params average;
  ALPA_STATE(params, average)
};

struct Batch {
  Array x, y;
  ALPA_PYTREE(x, y)
};

Array loss_of(const Params& params, const Batch& batch) {
  Array h = batch.x;
  for (const Array& w : params.w) h = tanh(matmul(h, w));
  return mean(square(h - batch.y));
}

std::pair<State, Array> train_step(const State& state, const Batch& batch) {
  const auto [loss, gradients] =
      value_and_grad([&](const Params& params) { return loss_of(params, batch); })(state.params);
  const auto move = [](const Array& p, const Array& g) { return p - 0.1 * g; };
  const auto blend = [](const Array& a, const Array& p) { return 0.9 * a + 0.1 * p; };
  const Params next = tree_map2(state.params, gradients, move);
  return {State{next, tree_map2(state.average, next, blend)}, loss};
}

State first_state() {
  State state;
  for (int k = 0; k < 3; ++k) {
    state.params.w.push_back(random::normal(random::key(k), {32, 32}) / 6);
    state.average.w.push_back(zeros({32, 32}));
  }
  return state;
}

Batch a_batch(int64_t rows) {
  return {random::normal(random::key(8), {rows, 32}), random::uniform(random::key(9), {rows, 32})};
}

class Follow : public testing::Test {
 protected:
  void SetUp() override { init("local", {.num_devices = 8}); }
  void TearDown() override { shutdown(); }
};

TEST_F(Follow, AnEvaluationTakesParametersAndBatchWhereTheTrainingHasThem) {
  const std::vector<AnyMethod> methods = {ShardParallel(), ShardParallel({2, 4}), DataParallel(),
                                          Zero2Parallel(), Zero3Parallel(),       Zero3Parallel(4)};
  for (const AnyMethod& method : methods) {
    SCOPED_TRACE(method->name());
    const auto train = parallelize(train_step, {.method = method});
    const auto evaluate = parallelize(loss_of, {.method = FollowParallel(train)});
    const auto [state, loss] = train(first_state(), a_batch(64));
    const double expected = loss_of(state.params, a_batch(128)).item<float>();
    EXPECT_NEAR(evaluate(state.params, a_batch(128)).item<float>(), expected, 1e-5);
    const std::vector<PlacementSpec> training = train.get_last_executable()->get_input_placement_specs();
    const std::vector<PlacementSpec> mine = evaluate.get_last_executable()->get_input_placement_specs();
    for (size_t k = 0; k < 3; ++k) EXPECT_EQ(mine.at(k), training.at(k)) << k;
    EXPECT_EQ(mine.at(3).spec, training.at(6).spec);  // x
    EXPECT_EQ(mine.at(3).shape.dims[0], 128);
    const auto placed = evaluate.preshard_dynamic_args(state.params, a_batch(128));
    EXPECT_EQ(std::get<0>(placed).w[1].value(), state.params.w[1].value());  // not moved
  }
}

TEST_F(Follow, AFunctionOfKeyPathsSaysWhichFollowsWhich) {
  const auto train = parallelize(train_step, {.method = Zero3Parallel()});
  const auto [state, loss] = train(first_state(), a_batch(64));
  const auto of_average = [](const std::string& path) {
    return path.starts_with("args[0]") ? "args[0].average" + path.substr(7) : path;
  };
  const auto evaluate = parallelize(loss_of, {.method = FollowParallel(train, of_average)});
  const double expected = loss_of(state.average, a_batch(8)).item<float>();
  EXPECT_NEAR(evaluate(state.average, a_batch(8)).item<float>(), expected, 1e-5);
  EXPECT_EQ(evaluate.get_last_executable()->get_input_placement_specs().at(0),
            train.get_last_executable()->get_input_placement_specs().at(3));
}

TEST_F(Follow, WhatDoesNotFitIsNamed) {
  const auto train = parallelize(train_step, {.method = DataParallel()});
  const auto evaluate = parallelize(loss_of, {.method = FollowParallel(train)});
  EXPECT_THAT(message_of([&] { evaluate(first_state().params, a_batch(8)); }),
              AllOf(HasSubstr("FollowParallel"), HasSubstr("not compiled")));
  const State state = train(first_state(), a_batch(64)).first;
  EXPECT_THAT(message_of([&] { evaluate(state.params, a_batch(6)); }), AllOf(HasSubstr("args[1].x"), HasSubstr("6")));
  const auto other = parallelize([](const std::map<std::string, Array>& all) { return all.at("a") * 2; },
                                 {.method = FollowParallel(train)});
  EXPECT_THAT(message_of([&] { other(std::map<std::string, Array>{{"a", ones({8})}}); }), HasSubstr("args[0].a"));
  const auto flat =
      parallelize([](const Params& params) { return sum(params.w[0]); }, {.method = FollowParallel(train)});
  EXPECT_THAT(message_of([&] { flat(Params{{ones({8})}}); }),
              AllOf(HasSubstr("args[0].w[0]"), HasSubstr("f32[32,32]")));
}

}  // namespace
}  // namespace alpa
