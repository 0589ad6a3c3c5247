#include "alpa/plan/plan.h"

#include <gtest/gtest.h>

#include "alpa/base/error.h"

namespace alpa::plan {
namespace {

Plan example() {
  Plan plan;
  plan.mesh = mesh::LogicalMesh({2, 4});
  plan.program_hash = program_hash("abc");
  plan.cluster = mesh::local_cpu(8);
  plan.method = "shard";
  plan.objective_seconds = 2;
  plan.bound_seconds = 1.5;
  plan.collectives["all-reduce"] = {3, 4096};
  plan.forbidden_collectives = {"all-gather"};
  const tensor::Shape shape(tensor::DType::kF32, {8, 16});
  plan.inputs = {{"w", shape, sharding::parse_spec("(None,(x+y))", plan.mesh, 2)}};
  plan.outputs = {{"w", shape, sharding::parse_spec("(None,(x+y))", plan.mesh, 2)},
                  {"loss", tensor::Shape(tensor::DType::kF32, {}), {}}};
  plan.rematerialized = {"tanh.4", "dot.5"};
  plan.rematerialization_saved_bytes = 1 << 20;
  plan.rematerialization_added_seconds = 0.25;
  plan.ops["dot.1"] = {sharding::parse_spec("(x,y)", plan.mesh, 2)};
  plan.ops["while.2"] = {sharding::parse_spec("()", plan.mesh, 0), sharding::parse_spec("(y)", plan.mesh, 1)};
  plan.ops["empty.3"] = {};
  plan.operands["dot.1"] = {sharding::parse_spec("(x,None)", plan.mesh, 2),
                            sharding::parse_spec("(None,y)", plan.mesh, 2)};
  return plan;
}

TEST(Plan, SurvivesJson) {
  const Plan plan = example();
  const Plan again = plan_from_json(to_json(plan), "plan.json");
  EXPECT_EQ(to_json(again), to_json(plan));
  EXPECT_EQ(again.ops, plan.ops);
  EXPECT_EQ(again.operands, plan.operands);
  EXPECT_EQ(again.inputs, plan.inputs);
  EXPECT_EQ(again.collectives, plan.collectives);
  EXPECT_EQ(again.forbidden_collectives, plan.forbidden_collectives);
  EXPECT_EQ(again.rematerialized, plan.rematerialized);
  EXPECT_EQ(again.rematerialization_saved_bytes, plan.rematerialization_saved_bytes);
  EXPECT_EQ(again.rematerialization_added_seconds, plan.rematerialization_added_seconds);
}

// What CONTRACTS lists is enough.
TEST(Plan, FieldsThatItCanDoWithoutMayBeAbsent) {
  Plan plan = example();
  plan.operands.clear();
  plan.forbidden_collectives.clear();
  std::string text = to_json(plan);
  for (const std::string field : {",\"operands\":{}", ",\"communication_seconds\":0.0", ",\"gap\":0.25"}) {
    const size_t at = text.find(field);
    ASSERT_NE(at, std::string::npos) << field;
    text.erase(at, field.size());
  }
  EXPECT_EQ(to_json(plan_from_json(text, "plan.json")), to_json(plan));
}

TEST(Plan, EveryErrorNamesTheFile) {
  const std::string good = to_json(example());
  const auto expect_named = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    try {
      plan_from_json(text, "stored.json");
      ADD_FAILURE() << to;
    } catch (const InvalidArgumentError& error) {
      EXPECT_NE(std::string(error.what()).find("stored.json"), std::string::npos) << error.what();
    }
  };
  expect_named("\"float32\"", "\"float99\"");
  expect_named("\"2x4\"", "\"q\"");
  expect_named("\"2x4\"", "\"2x2x2x2\"");
  expect_named("[8,16]", "[8,-16]");
  expect_named("\"shard\"", "7");
}

TEST(Plan, ElementTypesThatNumPyLacksSurvive) {
  Plan plan = example();
  plan.outputs.push_back({"done", tensor::Shape(tensor::DType::kToken, {}), {}});
  plan.outputs.push_back({"bits", tensor::Shape(tensor::DType::kU1, {}), {}});
  EXPECT_EQ(plan_from_json(to_json(plan), "plan.json").outputs, plan.outputs);
}

TEST(Plan, GapIsRelativeToTheObjective) {
  EXPECT_DOUBLE_EQ(example().gap(), 0.25);
  EXPECT_EQ(Plan().gap(), 0);
}

TEST(Plan, EveryCutIsATypedError) {
  const std::string text = to_json(example());
  for (size_t size = 0; size + 2 < text.size(); ++size)
    EXPECT_THROW(plan_from_json(text.substr(0, size), "plan.json"), InvalidArgumentError);
}

TEST(Plan, RejectsUnknownAxesAndVersions) {
  std::string text = to_json(example());
  text.replace(text.find("[\"x\"]"), 5, "[\"w\"]");
  EXPECT_THROW(plan_from_json(text, "plan.json"), InvalidArgumentError);
  text = to_json(example());
  text.replace(text.find("\"version\":1"), 11, "\"version\":9");
  EXPECT_THROW(plan_from_json(text, "plan.json"), InvalidArgumentError);
}

TEST(Plan, CarriesTheDescriptionOfItsCluster) {
  Plan plan = example();
  plan.cluster = mesh::load_cluster("h100-dgx");  // a copy, edited, under its old name
  plan.cluster.intra_host = {1e-9, 1e9 / 3};
  const Plan again = plan_from_json(to_json(plan), "plan.json");
  EXPECT_EQ(mesh::to_json(again.cluster), mesh::to_json(plan.cluster));
  EXPECT_EQ(again.cluster.intra_host.bandwidth, 1e9 / 3);
}

TEST(Plan, WithoutADescriptionIsForTheReadyClusterOfThatName) {
  const auto stripped = [](Plan plan) {
    std::string text = to_json(plan);
    const size_t begin = text.find("\"cluster_description\"");
    return text.erase(begin, text.find("\"mesh\"") - begin);
  };
  Plan plan = example();
  EXPECT_EQ(mesh::to_json(plan_from_json(stripped(plan), "plan.json").cluster), mesh::to_json(mesh::local_cpu(8)));
  plan.cluster = mesh::load_cluster("a100-dgx");
  EXPECT_EQ(mesh::to_json(plan_from_json(stripped(plan), "plan.json").cluster), mesh::to_json(plan.cluster));
  plan.cluster.name = "mine";
  EXPECT_THROW(plan_from_json(stripped(plan), "plan.json"), InvalidArgumentError);
}

TEST(Plan, HashIsTheKnownFunction) {
  EXPECT_EQ(program_hash(""), "fnv1a64:cbf29ce484222325");
  EXPECT_EQ(program_hash("a"), "fnv1a64:af63dc4c8601ec8c");
}

}  // namespace
}  // namespace alpa::plan
