#include <gtest/gtest.h>
#include <malloc.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "alpa/alpa.h"
#include "alpa/api/cluster_state.h"
#include "alpa/base/error.h"
#include "alpa/solver/evaluate.h"
#include "alpa/solver/iopddl.h"

namespace alpa {
namespace {

struct Params {
  std::vector<Array> w, b;
  ALPA_PYTREE(w, b)
};

struct State {
  Params params;
  Array step;
  ALPA_STATE(params, step)
};

struct Batch {
  Array x, y;
  ALPA_PYTREE(x, y)
};

std::vector<float> ramp(int64_t count, float scale) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t k = 0; k < values.size(); ++k) values[k] = scale * (static_cast<float>((k * 37) % 101) / 50.0f - 1.0f);
  return values;
}

State first_state() {
  State state;
  const Dims widths = {16, 64, 8};
  for (size_t k = 0; k + 1 < widths.size(); ++k) {
    state.params.w.push_back(Array::from(ramp(widths[k] * widths[k + 1], 0.2f), {widths[k], widths[k + 1]}));
    state.params.b.push_back(zeros({widths[k + 1]}));
  }
  state.step = full({}, 0, DType::kS32);
  return state;
}

Batch a_batch() { return {Array::from(ramp(32 * 16, 1.0f), {32, 16}), Array::from(ramp(32 * 8, 0.5f), {32, 8})}; }

Array loss_of(const Params& params, const Batch& batch) {
  Array h = batch.x;
  for (size_t k = 0; k < params.w.size(); ++k) {
    h = matmul(h, params.w[k]) + params.b[k];
    if (k + 1 < params.w.size()) h = tanh(h);
  }
  return mean(square(h - batch.y));
}

std::pair<State, Array> train_step(State state, const Batch& batch) {
  auto [loss, gradients] = value_and_grad([&](const Params& p) { return loss_of(p, batch); })(state.params);
  state.params = tree_map2(state.params, gradients, [](const Array& p, const Array& g) { return p - 0.1 * g; });
  state.step += 1;
  return {state, loss};
}

class Parallelize : public testing::Test {
 protected:
  void SetUp() override { init("local", {.num_devices = 8}); }
  void TearDown() override { shutdown(); }
};

TEST_F(Parallelize, TrainsAsOneDeviceDoes) {
  State single = first_state(), state = first_state();
  const Batch batch = a_batch();
  const auto step = parallelize(train_step);
  for (int k = 0; k < 4; ++k) {
    Array loss, expected;
    std::tie(single, expected) = train_step(single, batch);
    std::tie(state, loss) = step(state, batch);
    EXPECT_NEAR(loss.item<float>(), expected.item<float>(), 1e-5 * expected.item<float>());
  }
  EXPECT_EQ(state.step.item<int>(), 4);
  const std::vector<float> a = single.params.w[0].to_vector<float>(), b = state.params.w[0].to_vector<float>();
  for (size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-5);
}

TEST_F(Parallelize, GradientsAreThoseOfFiniteDifferences) {
  const Batch batch = a_batch();
  Params params = first_state().params;
  const Params gradients = grad([&](const Params& p) { return loss_of(p, batch); })(params);
  const std::vector<float> found = gradients.b[0].to_vector<float>();
  for (const size_t k : {0u, 5u, 63u}) {
    std::vector<float> bump(64, 0.0f);
    bump[k] = 1e-2f;
    Params up = params, down = params;
    up.b[0] = params.b[0] + Array::from(bump);
    down.b[0] = params.b[0] - Array::from(bump);
    const float slope = (loss_of(up, batch).item<float>() - loss_of(down, batch).item<float>()) / 2e-2f;
    EXPECT_NEAR(found[k], slope, 2e-4);
  }
}

TEST_F(Parallelize, UseOfADonatedArrayIsAnError) {
  State state = first_state();
  const auto step = parallelize(train_step);
  const auto [next, loss] = step(state, a_batch());
  try {
    step(state, a_batch());
    FAIL();
  } catch (const InvalidArgumentError& error) {
    EXPECT_NE(std::string(error.what()).find("args[0].params.w[0] was donated"), std::string::npos) << error.what();
  }
  EXPECT_GT(loss.item<float>(), 0);
}

TEST_F(Parallelize, SameArrayDonatedAndNotIsAnError) {
  const auto add = parallelize([](const Array& a, const Array& b) { return a + b; },
                               {.donate_argnums = std::vector{0}, .batch_argnums = {}});
  const Array x = ones({16});
  EXPECT_THROW(add(x, x), InvalidArgumentError);
  EXPECT_EQ(x.to_vector<float>()[0], 1);  // untouched
  EXPECT_EQ(add(ones({16}), x).to_vector<float>(), std::vector<float>(16, 2.0f));
}

TEST_F(Parallelize, StaticArgumentsCompileOncePerValue) {
  int traces = 0;
  const auto scale = parallelize([&](const Array& x, int by) {
    ++traces;
    return x * by;
  });
  EXPECT_EQ(scale(ones({8}), 3).to_vector<float>()[0], 3);
  EXPECT_EQ(scale(ones({8}), 4).to_vector<float>()[0], 4);
  EXPECT_EQ(scale(ones({8}), 3).to_vector<float>()[0], 3);
  EXPECT_EQ(traces, 2);
  clear_executable_cache();
  EXPECT_EQ(scale(ones({8}), 3).to_vector<float>()[0], 3);
  EXPECT_EQ(traces, 3);
}

TEST_F(Parallelize, NothingGrowsWithSteps) {
  const auto step = parallelize(train_step);
  State state = first_state();
  const Batch batch = a_batch();
  Array loss;
  const auto run = [&](int steps) {
    for (int k = 0; k < steps; ++k) std::tie(state, loss) = step(std::move(state), batch);
    step.get_last_executable()->sync();
    return static_cast<int64_t>(mallinfo2().uordblks);
  };
  constexpr int kSteps = 200;
  int64_t before = run(10 * kSteps);  // the plug-in fills stores of its own
  const int64_t arrays = api::cluster()->arrays.count();
  std::vector<int64_t> growth;  // some of it the plug-in's, now more, now less
  for (int k = 0; k < 15; ++k) {
    const int64_t after = run(kSteps);
    growth.push_back(after - before);
    before = after;
  }
  EXPECT_EQ(api::cluster()->arrays.count(), arrays);
  std::sort(growth.begin(), growth.end());
  EXPECT_LT(growth[growth.size() / 2], 32 * kSteps);
}

TEST_F(Parallelize, ExecutablesTellTimesAndPlacements) {
  const auto step = parallelize(train_step);
  State state = first_state();
  Array loss;
  for (int k = 0; k < 3; ++k) {
    std::tie(state, loss) = step(std::move(state), a_batch());
    step.get_last_executable()->sync();
  }
  const auto executable = step.get_last_executable();
  const std::vector<double> seconds = executable->get_execution_time_costs();
  ASSERT_EQ(seconds.size(), 3u);
  for (const double one : seconds) EXPECT_GT(one, 0);
  EXPECT_EQ(executable->get_input_placement_specs().size(), 7u);   // w, b, step, x, y
  EXPECT_EQ(executable->get_output_placement_specs().size(), 6u);  // w, b, step, loss
  EXPECT_GT(executable->get_total_allocation_size(), 0);
  EXPECT_NE(executable->get_hlo_text().find("ENTRY"), std::string::npos);
}

TEST_F(Parallelize, DebugInformationHoldsTheProblemAndItsSolution) {
  const auto step = parallelize(train_step, {.method = ShardParallel({2, 4})});
  const auto executable = step.get_executable(first_state(), a_batch());
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "alpa_debug_information";
  executable->dump_debug_info(folder.string());
  for (const char* name : {"program.hlo.txt", "annotated.hlo.pb", "partitioned.hlo.txt", "plan.json", "times.txt"})
    EXPECT_GT(std::filesystem::file_size(folder / name), 10u) << name;
  const solver::Problem problem = solver::read_problem((folder / "problem.json").string());
  const solver::Evaluation found = solver::evaluate(problem, solver::read_choice((folder / "solution.json").string()));
  const auto plan = nlohmann::json::parse(executable->get_plan());
  EXPECT_TRUE(found.feasible());
  EXPECT_NEAR(static_cast<double>(found.objective) * 1e-12, plan.at("objective_seconds").get<double>(), 1e-9);
  std::filesystem::remove_all(folder);
}

TEST_F(Parallelize, ReadingATracedArrayIsAnError) {
  const auto bad = parallelize([](const Array& x) { return x * x.item<float>(); });
  EXPECT_THROW(bad(ones({8})), InvalidArgumentError);
  Array leaked;
  const auto leak = parallelize([&](const Array& x) {
    leaked = x * 2;
    return x;
  });
  leak(ones({8}));
  EXPECT_THROW(leaked + 1, InvalidArgumentError);
  EXPECT_THROW(leaked.item<float>(), InvalidArgumentError);
}

TEST_F(Parallelize, ShapesThatDoNotFitNameThePlace) {
  try {
    matmul(ones({2, 3}), ones({2, 3}));
    FAIL();
  } catch (const InvalidArgumentError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("f32[2,3] times f32[2,3] at parallelize_test.cc:"), std::string::npos) << text;
  }
  EXPECT_THROW(ones({2, 3}) + ones({4}), InvalidArgumentError);
}

TEST(Cluster, ArraysEndWithIt) {
  init("local", {.num_devices = 4});
  init("local", {.num_devices = 8});  // does nothing
  EXPECT_EQ(num_devices(), 4);
  const Array x = ones({4}) + 1;
  EXPECT_EQ(x.to_vector<float>()[0], 2);
  shutdown();
  EXPECT_THROW(shutdown(), InvalidArgumentError);
  EXPECT_THROW(x.to_host(), InvalidArgumentError);
  EXPECT_THROW((ones({4}) + 1).to_host(), InvalidArgumentError);
  EXPECT_THROW(init("ray"), UnsupportedError);
}

}  // namespace
}  // namespace alpa
