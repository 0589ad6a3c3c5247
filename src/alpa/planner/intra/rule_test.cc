#include "alpa/planner/intra/rule.h"

#include <gtest/gtest.h>

#include "alpa/base/error.h"
#include "alpa/hlo/builder.h"
#include "alpa/planner/intra/intra.h"
#include "alpa/planner/intra/memory.h"
#include "alpa/planner/intra/predict.h"
#include "alpa/planner/intra/strategy.h"

namespace alpa::planner {
namespace {

using hlo::ComputationBuilder;
using hlo::InstructionId;
using hlo::Module;
using hlo::ModuleBuilder;
using hlo::Opcode;
using tensor::DType;
using tensor::Shape;

Shape f32(std::vector<int64_t> dims) { return Shape(DType::kF32, std::move(dims)); }

ShardingRule rule_of(const Module& module) {
  const hlo::Computation& entry = module.entry_computation();
  RuleRequest request{module, entry, entry[entry.root], {}, {entry[entry.root].shape}};
  for (const InstructionId operand : entry[entry.root].operands) request.operands.push_back(entry[operand].shape);
  return sharding_rule(request);
}

// Two-layer perceptron forward and the gradient of its first weight: x[32,64] w[64,128] v[128,16].
Module two_layers() {
  ModuleBuilder module("two_layers");
  ComputationBuilder b("main");
  const InstructionId x = b.parameter(f32({32, 64}), "x");
  const InstructionId w = b.parameter(f32({64, 128}), "w");
  const InstructionId v = b.parameter(f32({128, 16}), "v");
  const InstructionId h = b.dot(f32({32, 128}), x, w, {{1}, {0}, {}, {}});
  const InstructionId a = b.op(Opcode::kTanh, f32({32, 128}), {h});
  const InstructionId y = b.dot(f32({32, 16}), a, v, {{1}, {0}, {}, {}});
  const InstructionId root = b.tuple({y, w});
  return std::move(module).build(std::move(b).build(root));
}

TEST(Rules, MatmulHasTwoParallelFactorsAndOneReduction) {
  ModuleBuilder module("m");
  ComputationBuilder b("main");
  const InstructionId x = b.parameter(f32({32, 64}));
  const InstructionId w = b.parameter(f32({64, 128}));
  const InstructionId root = b.dot(f32({32, 128}), x, w, {{1}, {0}, {}, {}});
  const Module built = std::move(module).build(std::move(b).build(root));
  const ShardingRule rule = rule_of(built);
  ASSERT_EQ(rule.factors.size(), 3u);
  EXPECT_EQ(rule.factors[0].size, 32);
  EXPECT_EQ(rule.factors[1].size, 128);
  EXPECT_EQ(rule.factors[2].size, 64);
  EXPECT_EQ(rule.factors[2].kind, Factor::Kind::kReduction);
  EXPECT_EQ(rule.factors[2].operand_dims, (std::vector<int>{1, 0}));
}

TEST(Rules, ReshapeDividesTheMajorDimOfEachGroup) {
  ModuleBuilder module("m");
  ComputationBuilder b("main");
  const InstructionId root = b.op(Opcode::kReshape, f32({8, 4, 6, 1}), {b.parameter(f32({32, 6}))});
  const Module built = std::move(module).build(std::move(b).build(root));
  const ShardingRule rule = rule_of(built);
  ASSERT_EQ(rule.factors.size(), 2u);
  EXPECT_EQ(rule.factors[0].operand_dims[0], 0);
  EXPECT_EQ(rule.factors[0].result_dims[0], 0);
  EXPECT_EQ(rule.factors[0].size, 8);  // divides 32 and 8
  EXPECT_EQ(rule.factors[1].size, 6);
}

TEST(Rules, DimsThatAreCutOrMovedStayWhole) {
  ModuleBuilder module("m");
  ComputationBuilder b("main");
  const InstructionId x = b.parameter(f32({16, 8}));
  const InstructionId root = b.slice(f32({16, 4}), x, {{0, 16, 1}, {2, 6, 1}});
  const Module built = std::move(module).build(std::move(b).build(root));
  const ShardingRule rule = rule_of(built);
  ASSERT_EQ(rule.factors.size(), 1u);
  EXPECT_EQ(rule.factors[0].size, 16);
}

TEST(Rules, ReduceFromAnotherValueThanTheIdentityKeepsItsDimsWhole) {
  for (const double init : {0.0, 3.0}) {
    ModuleBuilder module("m");
    const auto add = module.reducer(Opcode::kAdd, DType::kF32);
    ComputationBuilder b("main");
    const InstructionId x = b.parameter(f32({16, 8}));
    const InstructionId root =
        b.with_dimensions(Opcode::kReduce, f32({16}), {x, b.scalar(DType::kF32, init)}, {1}, {add});
    const Module built = std::move(module).build(std::move(b).build(root));
    EXPECT_EQ(rule_of(built).factors.size(), init == 0 ? 2u : 1u);
  }
}

TEST(Strategies, DotsAreDividedOverEveryAxis) {
  const Module module = two_layers();
  const hlo::ValueGraph graph = hlo::build_value_graph(module);
  const cost::CollectiveModel collectives(mesh::local_cpu(8), mesh::LogicalMesh({2, 4}));
  const RuleBook rules(module, graph);
  StrategyMaker maker(rules, graph, collectives);
  const auto table = maker.table(3);
  EXPECT_EQ(table->strategies.size(), 9u);  // three factors for each of two axes, none left out
  for (const Strategy& strategy : table->strategies) {
    int64_t bytes = 0;
    for (const Communication& one : strategy.communication) bytes += one.bytes;
    const bool reduces = !strategy.operands[0].dims[1].empty();
    EXPECT_EQ(bytes > 0, reduces);
  }
}

IntraRequest request_for(const Module& module, const hlo::ValueGraph& graph, const cost::CollectiveModel& collectives) {
  return {.module = module,
          .graph = graph,
          .collectives = collectives,
          .pinned_inputs = {},
          .feeds = {{1, 1}},
          .memory_cap_bytes = std::nullopt,
          .search = Search::kOptimize,
          .start_inputs = {},
          .solver = {}};
}

TEST(PlanIntra, TwoLayersCommunicateOnce) {
  // Column-parallel then row-parallel (Megatron): one all-reduce of the [32,16] result, or nothing if the batch is
  // divided and the weights are whole; the latter is cheaper and must be found.
  const Module module = two_layers();
  const hlo::ValueGraph graph = hlo::build_value_graph(module);
  const cost::CollectiveModel collectives(mesh::local_cpu(8), mesh::LogicalMesh({8}));
  const IntraRequest request = request_for(module, graph, collectives);
  const Assignment assignment = plan_intra(request);
  plan::Plan plan;
  plan.mesh = collectives.logical_mesh();
  fill_plan(request, assignment, plan);
  EXPECT_TRUE(plan.collectives.empty());
  EXPECT_EQ(assignment.objective_seconds, assignment.bound_seconds);
}

TEST(PlanIntra, PinsAreKept) {
  const Module module = two_layers();
  const hlo::ValueGraph graph = hlo::build_value_graph(module);
  const cost::CollectiveModel collectives(mesh::local_cpu(8), mesh::LogicalMesh({8}));
  IntraRequest request = request_for(module, graph, collectives);
  const auto column = sharding::parse_spec("(None,x)", collectives.logical_mesh(), 2);
  request.pinned_inputs = {sharding::ShardingSpec::replicated(2), column, std::nullopt};
  const Assignment assignment = plan_intra(request);
  EXPECT_EQ(assignment.spec(graph, graph.inputs[1]), column);
  plan::Plan plan;
  plan.mesh = collectives.logical_mesh();
  fill_plan(request, assignment, plan);
  // The hidden layer comes out divided by columns; an all-to-all of a device's [32,16] part to rows costs half an
  // all-reduce of the [32,16] result.
  ASSERT_EQ(plan.collectives.size(), 1u);
  EXPECT_EQ(plan.collectives["all-to-all"].count, 1);
  EXPECT_EQ(plan.collectives["all-to-all"].bytes, 32 * 16 * 4);
}

TEST(PlanIntra, APinThatPadsIsRefusedByName) {
  const Module module = two_layers();
  const hlo::ValueGraph graph = hlo::build_value_graph(module);
  const cost::CollectiveModel collectives(mesh::local_cpu(3), mesh::LogicalMesh({3}));
  IntraRequest request = request_for(module, graph, collectives);
  request.pinned_inputs = {sharding::parse_spec("(x,None)", collectives.logical_mesh(), 2), std::nullopt, std::nullopt};
  EXPECT_THROW(plan_intra(request), InvalidArgumentError);
}

TEST(PlanIntra, ACapBelowAnyPlanNamesTheLeast) {
  const Module module = two_layers();
  const hlo::ValueGraph graph = hlo::build_value_graph(module);
  const cost::CollectiveModel collectives(mesh::local_cpu(8), mesh::LogicalMesh({8}));
  IntraRequest request = request_for(module, graph, collectives);
  request.memory_cap_bytes = 100;
  int64_t least = 0;
  try {
    plan_intra(request);
    FAIL();
  } catch (const InfeasibleError& error) {
    least = error.least_memory_bytes();
  }
  EXPECT_GT(least, 100);
  request.memory_cap_bytes = least;
  EXPECT_LE(plan_intra(request).memory_bytes, least);
  request.memory_cap_bytes = least - 1;
  EXPECT_THROW(plan_intra(request), InfeasibleError);
}

TEST(Lifetimes, ByHand) {
  const Module module = two_layers();
  const hlo::ValueGraph graph = hlo::build_value_graph(module);
  const auto lives = lifetimes(module, graph, {{1, 1}});
  ASSERT_EQ(lives.size(), 6u);  // x w v dot tanh dot
  EXPECT_EQ(lives[0].end, 6);   // x is not donated: to the end
  EXPECT_EQ(lives[1].end, 6);   // w is an output as it is
  EXPECT_EQ(lives[3].begin, 3);
  EXPECT_EQ(lives[3].end, 5);      // h: used by tanh
  EXPECT_TRUE(lives[4].occupies);  // tanh feeds a dot: it exists
  EXPECT_EQ(lives[4].end, 6);
}

}  // namespace
}  // namespace alpa::planner
