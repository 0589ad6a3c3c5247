#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alpa/alpa.h"
#include "alpa/api/testing/message_of.h"
#include "alpa/api/testing/two_layers.h"
#include "alpa/plan/plan.h"

/// Placements that a step is given: of inputs, of outputs and of values in between.
namespace alpa {
namespace {

using namespace testing_net;  // NOLINT: the names of the network under test
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class ManualSharding : public testing::Test {
 protected:
  void SetUp() override { init("local", {.num_devices = 8}); }
  void TearDown() override { shutdown(); }
};

ShardParallel placed(std::vector<int64_t> mesh, ManualShardingOption option, int64_t micro_batches = 1) {
  ShardParallel method(std::move(mesh), micro_batches);
  method.manual_sharding_option = std::move(option);
  return method;
}

ParallelizeOptions with(AnyMethod method) {
  return {.donate_argnums = std::vector<int>{}, .method = std::move(method)};
}

std::vector<std::string> texts(const std::vector<PlacementSpec>& specs) {
  std::vector<std::string> result;
  for (const PlacementSpec& spec : specs) result.push_back(spec.to_string());
  return result;
}

// Placements of the values that the program itself asks to lie somewhere, in its order.
std::vector<std::string> asked_in_program(Executable& executable, const std::string& name = "custom-call") {
  const plan::Plan plan = plan::plan_from_json(executable.get_plan(), "the plan");
  std::vector<std::string> specs;
  for (const auto& [instruction, placements] : plan.ops) {
    if (instruction.starts_with(name)) specs.push_back(sharding::to_string(placements.at(0), plan.mesh));
  }
  return specs;
}

TEST_F(ManualSharding, InputsAndOutputsLieAsTheyAreAskedToAndTheNumbersStay) {
  const Batch rows = batch(16);
  const auto expected = gradient_step(params(), rows);
  const auto step = parallelize(
      gradient_step,
      with(placed({2, 4}, {.inputs = {{"args[0].up", "(None,y)"}, {"args[1].*", "(x,None)"}},
                           .outputs = {{"result[1].down", "(None,(x+y))"}, {"result[1].bias", "(None)"}}})));
  const auto found = step(params(), rows);
  expect_same(found.first, expected.first);
  expect_same(found.second, expected.second);
  const auto executable = step.get_last_executable();
  EXPECT_THAT(texts(executable->get_input_placement_specs()),
              AllOf(Contains("f32[16,32] (None, y)"), Contains("f32[16,16] (x, None)")));
  EXPECT_THAT(texts(executable->get_output_placement_specs()),
              ElementsAre("f32[] ()", testing::_, "f32[32] (None)", "f32[32,16] (None, (x+y))"));
}

TEST_F(ManualSharding, EveryPlacementOfAResultIsReached) {
  const Batch rows = batch(16);
  const Params expected = gradient_step(params(), rows).second;
  for (const char* spec : {"(None,None)", "(x,None)", "(None,x)", "(x,y)", "(y,x)", "((x+y),None)", "(?,y)"}) {
    const auto step = parallelize(gradient_step, with(placed({2, 4}, {.outputs = {{"result[1].up", spec}}})));
    expect_same(step(params(), rows).second, expected);
    const std::string lies = step.get_last_executable()->get_output_placement_specs()[1].to_string();
    if (std::string(spec) == "(?,y)")
      EXPECT_THAT(lies, HasSubstr(", y)"));
    else
      EXPECT_EQ(sharding::parse_spec(lies.substr(lies.find(' ')), mesh::LogicalMesh({2, 4}), 2),
                sharding::parse_spec(spec, mesh::LogicalMesh({2, 4}), 2));
  }
}

TEST_F(ManualSharding, WholeIsNotTheSameAsUnspecified) {
  const auto step = [](const Array& w, const Array& x) { return tanh(matmul(x, w)); };
  const Array w = spread({256, 256}, 0.1f), x = spread({64, 256}, 1);
  const auto free = parallelize(step, with(ShardParallel({8}))).get_executable(w, x);
  EXPECT_NE(free->get_output_placement_specs()[0].to_string(), "f32[64,256] (None, None)");
  const auto whole =
      parallelize(step, with(placed({8}, {.outputs = {{"result", "(None,None)"}}}))).get_executable(w, x);
  EXPECT_EQ(whole->get_output_placement_specs()[0].to_string(), "f32[64,256] (None, None)");
}

TEST_F(ManualSharding, AnOutputThatFeedsADonatedInputPlacesThatToo) {
  const Batch rows = batch(16);
  auto [expected, loss] = train_step(state(), rows);
  const auto step = parallelize(train_step, {.method = placed({2, 4}, {.outputs = {{"*momentum.up", "(y,x)"}}})});
  auto [next, found] = step(state(), rows);
  expect_same(found, loss);
  expect_same(next, expected);
  EXPECT_EQ(step.get_last_executable()->get_input_placement_specs()[3].to_string(), "f32[16,32] (y, x)");
  expect_same(step(next, rows).first, train_step(expected, rows).first, 1e-4);
}

TEST_F(ManualSharding, AxesHaveTheNamesThatTheyAreGiven) {
  ManualShardingOption option{.mesh_axis_names = {"data", "model"},
                              .inputs = {{"args[0].up", "(None,model)"}, {"args[1].x", "(data,None)"}}};
  const auto step = parallelize(gradient_step, with(placed({2, 4}, option)));
  expect_same(step(params(), batch(16)), gradient_step(params(), batch(16)));
  EXPECT_THAT(texts(step.get_last_executable()->get_input_placement_specs()),
              AllOf(Contains("f32[16,32] (None, y)"), Contains("f32[16,16] (x, None)")));
  ShardParallel any;  // of the meshes those with as many axes
  any.manual_sharding_option = option;
  const auto searched = parallelize(gradient_step, with(any)).get_executable(params(), batch(16));
  EXPECT_EQ(plan::plan_from_json(searched->get_plan(), "").mesh.num_axes(), 2);
}

TEST_F(ManualSharding, APytreeGivesEachOfItsArraysAPlacement) {
  const Params p = params();
  const auto columns = [](const std::string&, const Array& array) -> std::optional<std::string> {
    return array.shape().rank() == 2 ? std::optional<std::string>("(None,x)") : std::nullopt;
  };
  const auto step = parallelize(gradient_step, with(placed({8}, {.inputs = tree_placements(p, "args[0]", columns)})));
  expect_same(step(p, batch(16)), gradient_step(p, batch(16)));
  const std::vector<std::string> specs = texts(step.get_last_executable()->get_input_placement_specs());
  EXPECT_EQ(specs[0], "f32[16,32] (None, x)");
  EXPECT_EQ(specs[2], "f32[32,16] (None, x)");
}

// A loss with a placement asked of what is between its layers.
auto loss_with(const std::string& spec) {
  return [spec](const Params& params, const Batch& batch) {
    const Array hidden = with_sharding_constraint(tanh(matmul(batch.x, params.up) + params.bias), spec);
    return mean(square(matmul(hidden, params.down) - batch.y));
  };
}

TEST_F(ManualSharding, ValuesInBetweenAndTheirCotangentsLieAsAsked) {
  const auto expected = gradient_step(params(), batch(16));
  for (const std::string spec :
       {"(None, None)", "(x, None)", "(None, x)", "(y, x)", "((x+y), None)", "(None, (x+y))"}) {
    const auto both = [&](const Params& p, const Batch& b) {
      return value_and_grad([&](const Params& q) { return loss_with(spec)(q, b); })(p);
    };
    const auto step = parallelize(both, with(ShardParallel({2, 4})));
    const auto found = step(params(), batch(16));
    expect_same(found, expected);
    EXPECT_THAT(asked_in_program(*step.get_last_executable()), ElementsAre(spec, spec)) << spec;
  }
}

TEST_F(ManualSharding, AnOpenDimIsThePlanners) {
  const auto step = parallelize(loss_with("(?,x)"), with(ShardParallel({2, 4})));
  expect_same(step(params(), batch(16)), loss_of(params(), batch(16)));
  EXPECT_THAT(asked_in_program(*step.get_last_executable()), ElementsAre(HasSubstr(", x)")));
}

TEST_F(ManualSharding, ConstraintsHoldInLoopBodiesAndTheirDerivatives) {
  const auto loss = [](const Array& w, const Array& x) {
    const auto [last, all] = scan(
        [&](const Array& h, const Array& row) {
          const Array next = with_sharding_constraint(tanh(matmul(h, w) + row), "(None,x)");
          return std::pair(next, sum(next));
        },
        zeros({8, 16}), x);
    return sum(square(last)) + sum(all);
  };
  const auto both = [&](const Array& w, const Array& x) { return value_and_grad(loss)(w, x); };
  const Array w = spread({16, 16}, 0.3f), x = spread({5, 8, 16}, 0.5f);
  const auto step = parallelize(both, with(ShardParallel({8})));
  expect_same(step(w, x), both(w, x), 1e-4);
  EXPECT_THAT(asked_in_program(*step.get_last_executable()),
              AllOf(testing::SizeIs(testing::Ge(2)), testing::Each("(None, x)")));
}

TEST_F(ManualSharding, ConstraintsHoldInEachMicroBatch) {
  const auto both = [](const Params& p, const Batch& b) {
    return value_and_grad([&](const Params& q) { return loss_with("(x,y)")(q, b); })(p);
  };
  const auto step = parallelize(both, with(placed({2, 4}, {.outputs = {{"result[1].up", "(None,x)"}}}, 4)));
  expect_same(step(params(), batch(32)), gradient_step(params(), batch(32)));
  EXPECT_EQ(step.get_last_executable()->get_output_placement_specs()[1].to_string(), "f32[16,32] (None, x)");
  EXPECT_THAT(asked_in_program(*step.get_last_executable()), testing::Each("(x, y)"));
}

TEST_F(ManualSharding, OnOneDeviceAndOutsideOfStepsAConstraintIsItsArray) {
  const Array expected = loss_of(params(), batch(16));
  expect_same(loss_with("(x,y)")(params(), batch(16)), expected);
  const auto alone = [](const Params& p, const Batch& b) { return loss_with("(None,None)")(p, b); };
  expect_same(parallelize(alone, with(ShardParallel({1})))(params(), batch(16)), expected);
}

TEST_F(ManualSharding, RefusesWhatDoesNotFit) {
  const auto refused = [](ManualShardingOption option, std::vector<int64_t> mesh = {2, 4}) {
    return message_of(
        [&] { parallelize(train_step, {.method = placed(mesh, option)}).get_executable(state(), batch(16)); });
  };
  using Inputs = std::vector<ArrayPlacement>;
  EXPECT_THAT(refused({.inputs = Inputs{{"args[0].params.up", "(w,None)"}}}),
              AllOf(HasSubstr("args[0].params.up"), HasSubstr("\"w\""), HasSubstr("x y")));
  EXPECT_THAT(refused({.inputs = Inputs{{"args[7].*", "(x,None)"}}}),
              AllOf(HasSubstr("args[7].*"), HasSubstr("matches no input"), HasSubstr("args[0].params.up")));
  EXPECT_THAT(refused({.outputs = Inputs{{"args*", "(x,None)"}}}),
              AllOf(HasSubstr("matches no output"), HasSubstr("result[0].params.up")));
  EXPECT_THAT(refused({.inputs = Inputs{{"args[0].params.up", "(x,x)"}}}),
              AllOf(HasSubstr("args[0].params.up"), HasSubstr("axis x is used twice")));
  EXPECT_THAT(refused({.inputs = Inputs{{"args[0].params.bias", "(None,x)"}}}),
              AllOf(HasSubstr("args[0].params.bias"), HasSubstr("2 dims for an array of 1")));
  EXPECT_THAT(refused({.inputs = Inputs{{"args[0].params.bias", "(x)"}}}, {3}),
              AllOf(HasSubstr("args[0].params.bias"), HasSubstr("f32[32]"), HasSubstr("3 parts")));
  EXPECT_THAT(refused({.mesh_axis_names = {"data"}, .inputs = {}}), AllOf(HasSubstr("1 (data)"), HasSubstr("2x4")));
  EXPECT_THAT(refused({.mesh_axis_names = {"a", "a"}}), HasSubstr("names two axes"));
}

TEST_F(ManualSharding, RefusesPlacementsThatContradictEachOther) {
  const auto refused = [](ManualShardingOption option) {
    return message_of(
        [&] { parallelize(train_step, {.method = placed({2, 4}, option)}).get_executable(state(), batch(16)); });
  };
  EXPECT_THAT(refused({.inputs = {{"*params.up", "(x,None)"}, {"args[0].*.up", "(None,x)"}}}),
              AllOf(HasSubstr("*params.up=(x,None)"), HasSubstr("args[0].*.up=(None,x)"), HasSubstr("contradict"),
                    HasSubstr("args[0].params.up")));
  EXPECT_THAT(refused({.inputs = {{"args[0].momentum.up", "(x,None)"}}, .outputs = {{"*momentum.up", "(None,None)"}}}),
              AllOf(HasSubstr("contradict"), HasSubstr("args[0].momentum.up"), HasSubstr("result[0].momentum.up")));
  ShardParallel forced = placed({2, 4}, {.inputs = {{"args[1].x", "(y,None)"}}});
  forced.auto_sharding_option.force_batch_dim_to_mesh_dim = 0;
  EXPECT_THAT(
      message_of([&] { parallelize(train_step, {.method = forced}).get_executable(state(), batch(16)); }),
      AllOf(HasSubstr("force_batch_dim_to_mesh_dim"), HasSubstr("args[1].x=(y,None)"), HasSubstr("contradict")));
}

TEST_F(ManualSharding, RefusesASpecThatIsNone) {
  const auto refused = [](const std::string& spec) {
    return message_of([&] { with_sharding_constraint(zeros({4, 4}), spec); });
  };
  EXPECT_THAT(refused("(x)"), AllOf(HasSubstr("1 dims"), HasSubstr("f32[4,4]"), HasSubstr("manual_sharding_test.cc")));
  EXPECT_THAT(refused("(x,x)"), HasSubstr("used twice"));
  EXPECT_THAT(refused("(x,"), HasSubstr("parentheses"));
  const auto step = [](const Array& w, const Array& x) { return with_sharding_constraint(matmul(x, w), "(None,w)"); };
  EXPECT_THAT(message_of([&] { parallelize(step, with(ShardParallel({8})))(zeros({8, 8}), zeros({8, 8})); }),
              AllOf(HasSubstr("with_sharding_constraint((None,w))"), HasSubstr("\"w\"")));
}

}  // namespace
}  // namespace alpa
