#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alpa/alpa.h"
#include "alpa/api/testing/message_of.h"
#include "alpa/api/testing/two_layers.h"
#include "alpa/plan/plan.h"

/// Options of the planner's problem.
namespace alpa {
namespace {

using namespace testing_net;  // NOLINT: the names of the network under test
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class AutoSharding : public testing::Test {
 protected:
  void SetUp() override { init("local", {.num_devices = 8}); }
  void TearDown() override { shutdown(); }
};

const std::vector<std::vector<int64_t>> kMeshes = {{8}, {2, 4}, {2, 2, 2}};

ShardParallel with(AutoShardingOption option, std::vector<int64_t> mesh = {8}) {
  ShardParallel method(std::move(mesh));
  method.auto_sharding_option = option;
  return method;
}

plan::Plan plan_of(Executable& executable) { return plan::plan_from_json(executable.get_plan(), "the plan"); }

/// Trains two steps; the numbers must be those of one device.
std::shared_ptr<Executable> trained(const AnyMethod& method, int64_t rows = 16) {
  const auto step = parallelize(train_step, {.method = method});
  State expected = state(), found = state();
  for (int k = 0; k < 2; ++k) {
    Array loss, expected_loss;
    std::tie(expected, expected_loss) = train_step(expected, batch(rows));
    std::tie(found, loss) = step(found, batch(rows));
    expect_same(loss, expected_loss);
  }
  expect_same(found, expected, 1e-4);
  return step.get_last_executable();
}

bool is_whole(const sharding::ShardingSpec& spec) { return spec == sharding::ShardingSpec::replicated(spec.rank()); }

TEST_F(AutoSharding, TheBatchLiesOnItsAxisAlone) {
  for (const auto& mesh : kMeshes) {
    for (int axis = 0; axis < static_cast<int>(mesh.size()); ++axis) {
      const plan::Plan plan = plan_of(*trained(with({.force_batch_dim_to_mesh_dim = axis}, mesh)));
      for (const plan::TensorPlan& input : plan.inputs) {
        if (!input.name.starts_with("args[1]")) continue;
        EXPECT_EQ(input.spec.dims[0], sharding::Tile({axis})) << input.name;
      }
    }
  }
}

TEST_F(AutoSharding, WithoutAllGatherNothingIsGathered) {
  for (const auto& mesh : kMeshes) {
    const auto executable = trained(with({.allow_all_gather = false}, mesh));
    EXPECT_THAT(executable->get_hlo_text(), Not(HasSubstr("all-gather(")));
    EXPECT_FALSE(plan_of(*executable).collectives.contains("all-gather"));
  }
}

TEST_F(AutoSharding, WithoutAllToAllNoneRuns) {
  // Rows in, columns out: an all-to-all would be the way.
  ManualShardingOption manual{.inputs = {{"args[1]", "(x,None)"}}, .outputs = {{"result", "(None,x)"}}};
  const auto step = [](const Array& scale, const Array& x) { return tanh(scale * x); };
  const Array scale = full({}, 0.5), x = spread({64, 64}, 1);
  ShardParallel method({8});
  method.manual_sharding_option = manual;
  const auto free = parallelize(step, {.method = method});
  expect_same(free(scale, x), step(scale, x));
  EXPECT_THAT(free.get_last_executable()->get_hlo_text(), HasSubstr("all-to-all("));
  method.auto_sharding_option.allow_all_to_all = false;
  const auto bound = parallelize(step, {.method = method});
  expect_same(bound(scale, x), step(scale, x));
  EXPECT_THAT(bound.get_last_executable()->get_hlo_text(), Not(HasSubstr("all-to-all(")));
  method.auto_sharding_option.allow_all_gather = false;
  EXPECT_THAT(message_of<InfeasibleError>([&] { parallelize(step, {.method = method})(scale, x); }),
              AllOf(HasSubstr("allow_all_to_all = false"), HasSubstr("allow_all_gather = false"),
                    HasSubstr("manual_sharding_option.outputs 'result=(None,x)'")));
}

TEST_F(AutoSharding, ParametersAreDividedWhereTheyMustNotBeReplicated) {
  for (const auto& mesh : kMeshes) {
    const plan::Plan plan = plan_of(*trained(with({.allow_replicated_parameters = false}, mesh)));
    for (const plan::TensorPlan& input : plan.inputs) {
      if (!input.name.starts_with("args[0]")) continue;
      EXPECT_FALSE(is_whole(input.spec)) << input.name;
    }
  }
}

TEST_F(AutoSharding, WhatIsPlacedWholeStaysWhole) {
  ShardParallel method = with({.allow_replicated_parameters = false});
  method.manual_sharding_option.inputs = {{"args[0].params.up", "(None,None)"}};
  EXPECT_TRUE(is_whole(plan_of(*trained(method)).inputs[0].spec));
}

TEST_F(AutoSharding, PreferringReduceScatterDividesTheOptimizersState) {
  for (const auto& mesh : kMeshes) {
    const auto executable = trained(with({.prefer_reduce_scatter = true}, mesh));
    for (const plan::TensorPlan& input : plan_of(*executable).inputs) {
      if (input.name.starts_with("args[0].momentum")) {
        EXPECT_EQ(sharding::num_shards(input.spec, plan_of(*executable).mesh), 8) << input.name;
      }
    }
  }
}

TEST_F(AutoSharding, ForcedMethodsPlanAsTheirMethodsDo) {
  const auto specs = [](const AnyMethod& method) { return trained(method)->get_input_placement_specs(); };
  const auto shaped = [](auto method) {
    method.mesh_shape = {8};
    return method;
  };
  EXPECT_EQ(specs(with({.force_data_parallel = true})), specs(shaped(DataParallel())));
  EXPECT_EQ(specs(with({.force_data_parallel = true, .prefer_reduce_scatter = true})), specs(shaped(Zero2Parallel())));
  EXPECT_EQ(specs(with({.force_zero_stage_3 = true})), specs(shaped(Zero3Parallel())));
}

TEST_F(AutoSharding, OptionsNeverMakeAPlanCheaper) {
  const auto cost = [](AutoShardingOption option) {
    option.relative_gap = 0;
    return plan_of(*parallelize(train_step, {.method = with(option, {2, 4})}).get_executable(state(), batch(16)))
        .objective_seconds;
  };
  const double free = cost({});
  for (const AutoShardingOption& option :
       {AutoShardingOption{.force_batch_dim_to_mesh_dim = 0}, AutoShardingOption{.prefer_reduce_scatter = true},
        AutoShardingOption{.allow_all_gather = false}, AutoShardingOption{.allow_all_to_all = false},
        AutoShardingOption{.allow_replicated_parameters = false}})
    EXPECT_GE(cost(option), free * (1 - 1e-9));
}

// Case A04 of the public reports: a batch that the devices do not divide.
TEST_F(AutoSharding, ABatchThatDevicesDoNotDivideIsRefusedByNameOrRunsRight) {
  const auto ramp = [](const Dims& dims) {
    std::vector<float> values(static_cast<size_t>(dims[0] * dims[1]));
    for (size_t k = 0; k < values.size(); ++k) values[k] = (static_cast<float>(k % 7) - 3) / 4;
    return Array::from(values, dims);
  };
  const auto step = [](const Array& w, const Batch& b) {
    return value_and_grad([&](const Array& v) { return mean(square(matmul(b.x, v) - b.y)); })(w);
  };
  const auto run = [&](int64_t rows, AnyMethod method) {
    return parallelize(step, {.donate_argnums = std::vector<int>{}, .method = std::move(method)})(
        ramp({8, 8}), Batch{ramp({rows, 8}), ones({rows, 8})});
  };
  for (const int64_t rows : {1, 4, 9}) {
    const std::string size = "is " + std::to_string(rows) + ",";
    EXPECT_THAT(message_of([&] { run(rows, DataParallel()); }),
                AllOf(HasSubstr("args[1]"), HasSubstr(size), HasSubstr("8 devices")));
    EXPECT_THAT(message_of([&] { run(rows, with({.force_batch_dim_to_mesh_dim = 0})); }),
                AllOf(HasSubstr("force_batch_dim_to_mesh_dim"), HasSubstr("args[1].x"), HasSubstr(size),
                      HasSubstr("8 devices")));
    const auto [loss, gradient] = run(rows, ShardParallel());
    expect_same(gradient, step(ramp({8, 8}), Batch{ramp({rows, 8}), ones({rows, 8})}).second);
    if (rows > 1) continue;
    EXPECT_NEAR(loss.item<float>(), 2.170410, 1e-5);
    EXPECT_NEAR(sum(abs(gradient)).item<float>(), 10.253906, 1e-4);
  }
}

TEST_F(AutoSharding, RefusesOptionsThatMakeNoSense) {
  const auto refused = [](const AutoShardingOption& option, std::vector<int64_t> mesh = {2, 4}) {
    return message_of(
        [&] { parallelize(train_step, {.method = with(option, mesh)}).get_executable(state(), batch(16)); });
  };
  EXPECT_THAT(refused({.force_batch_dim_to_mesh_dim = 3}), HasSubstr("force_batch_dim_to_mesh_dim is 3"));
  EXPECT_THAT(refused({.force_batch_dim_to_mesh_dim = -1}), HasSubstr("force_batch_dim_to_mesh_dim is -1"));
  EXPECT_THAT(refused({.force_batch_dim_to_mesh_dim = 1}, {8}),
              AllOf(HasSubstr("force_batch_dim_to_mesh_dim"), HasSubstr("\"y\"")));
  EXPECT_THAT(refused({.force_data_parallel = true, .force_batch_dim_to_mesh_dim = 0}),
              AllOf(HasSubstr("force_batch_dim_to_mesh_dim"), HasSubstr("contradict"), HasSubstr("2x4")));
  EXPECT_THAT(refused({.relative_gap = -1}), HasSubstr("relative_gap is -1"));
  EXPECT_THAT(refused({.proof_work = -1}), HasSubstr("proof_work is -1"));
  ParallelizeOptions no_batch{.batch_argnums = {}, .method = with({.force_batch_dim_to_mesh_dim = 0})};
  EXPECT_THAT(message_of([&] { parallelize(train_step, no_batch).get_executable(state(), batch(16)); }),
              HasSubstr("batch_argnums"));
}

}  // namespace
}  // namespace alpa
