#include "alpa/planner/intra/rule.h"

#include <gtest/gtest.h>

#include <set>

#include "alpa/base/error.h"
#include "alpa/hlo/builder.h"
#include "alpa/hlo/edit.h"
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
  // Three factors for each of two axes, none left out: 9. A sum over y may be scattered over both dims of the result
  // (2 ways more, whichever of them x divides), one over x only over the dim that y does not divide (1 more), and of
  // one over both each axis is summed or scattered, both over the same dim (1 + 2 + 2 + 2).
  EXPECT_EQ(table->strategies.size(), 4u + 2 * 3u + 2 * 2u + 7u);
  for (const Strategy& strategy : table->strategies) {
    std::set<int> reduced;
    for (const Communication& one : strategy.communication) {
      EXPECT_GT(one.bytes, 0);
      reduced.insert(one.axes.begin(), one.axes.end());
      for (const int axis : one.axes)
        EXPECT_EQ(strategy.results[0].dim_of(axis).has_value(), one.kind == hlo::Opcode::kReduceScatter);
    }
    const std::vector<int> contracted = strategy.operands[0].dims[1].axes();
    EXPECT_EQ(reduced, std::set<int>(contracted.begin(), contracted.end()));
  }
}

TEST(Strategies, AReductionsSumIsScatteredIfThatIsAskedFor) {
  ModuleBuilder module("m");
  const auto add = module.reducer(Opcode::kAdd, DType::kF32);
  ComputationBuilder b("main");
  const InstructionId x = b.parameter(f32({16, 8}));
  const InstructionId root = b.with_dimensions(Opcode::kReduce, f32({8}), {x, b.scalar(DType::kF32, 0)}, {0}, {add});
  const Module built = std::move(module).build(std::move(b).build(root));
  const hlo::ValueGraph graph = hlo::build_value_graph(built);
  const cost::CollectiveModel collectives(mesh::local_cpu(8), mesh::LogicalMesh({8}));
  const RuleBook rules(built, graph);
  const hlo::NodeId node = graph.values[static_cast<size_t>(graph.outputs[0])].producer;
  const auto scattered = [&](bool asked) {
    StrategyMaker maker(rules, graph, collectives, {.scatter_reductions = asked});
    std::vector<Strategy> found;
    for (const Strategy& strategy : maker.table(node)->strategies) {
      if (!strategy.communication.empty() && strategy.communication[0].kind == hlo::Opcode::kReduceScatter)
        found.push_back(strategy);
    }
    return found;
  };
  EXPECT_TRUE(scattered(false).empty());
  const std::vector<Strategy> found = scattered(true);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].operands[0].dims[0].axes(), std::vector<int>{0});
  EXPECT_EQ(found[0].results[0].dims[0].axes(), std::vector<int>{0});
  EXPECT_EQ(found[0].communication[0].bytes, 8 * 4);
}

TEST(Strategies, AScatterDividesWhatADeviceHasAlready) {
  const Module module = two_layers();
  const hlo::ValueGraph graph = hlo::build_value_graph(module);
  const cost::CollectiveModel collectives(mesh::local_cpu(8), mesh::LogicalMesh({2, 4}));
  const RuleBook rules(module, graph);
  StrategyMaker maker(rules, graph, collectives);
  for (const Strategy& strategy : maker.table(3)->strategies) {
    // The axis of a scatter is the last of its dim; its bytes are those of the sum before it.
    for (const Communication& one : strategy.communication) {
      if (one.kind != hlo::Opcode::kReduceScatter) continue;
      const auto whole = local_shape(f32({32, 128}), strategy.results[0].without(one.axes), collectives.logical_mesh());
      EXPECT_EQ(one.bytes, tensor::byte_size(whole));
      for (const sharding::Tile& tile : strategy.results[0].dims) {
        const std::vector<int> axes = tile.axes();
        EXPECT_TRUE(std::is_sorted(axes.begin(), axes.end()));
      }
    }
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
  // The hidden layer comes out divided by columns; to scatter the sum of the [32,16] result, or to bring a device's
  // [32,16] part to rows, costs half an all-reduce of the result.
  ASSERT_EQ(plan.collectives.size(), 1u);
  const auto& [kind, total] = *plan.collectives.begin();
  EXPECT_TRUE(kind == "reduce-scatter" || kind == "all-to-all") << kind;
  EXPECT_EQ(total.count, 1);
  EXPECT_EQ(total.bytes, 32 * 16 * 4);
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

TEST(Rules, ADimOfZeroIsNoFactor) {
  ModuleBuilder module("m");
  ComputationBuilder b("main");
  const InstructionId x = b.parameter(f32({4, 0, 0, 8}));
  const hlo::WindowDim one{1, 1, 0, 0, 1, 1, false};
  const hlo::ConvolutionDims dims{0, 3, 2, 3, 0, 3, {1, 2}, {0, 1}, {1, 2}, 8, 1};
  const InstructionId kernel = b.parameter(f32({1, 1, 1, 0}));
  const InstructionId root = b.convolution(f32({4, 0, 0, 0}), x, kernel, {one, one}, dims);
  ComputationBuilder c("main");
  const InstructionId sum = c.op(Opcode::kNegate, f32({0, 8}), {c.parameter(f32({0, 8}))});
  const ShardingRule elementwise = rule_of(std::move(module).build(std::move(c).build(sum)));
  ASSERT_EQ(elementwise.factors.size(), 1u);
  EXPECT_EQ(elementwise.factors[0].result_dims, (std::vector<int>{1}));
  // The number of groups alone would divide the features.
  const hlo::Computation entry = std::move(b).build(root);
  const Module grouped{.name = "m", .computations = {entry}, .entry = 0, .proto = nullptr};
  const ShardingRule convolution = rule_of(grouped);
  ASSERT_EQ(convolution.factors.size(), 1u);
  EXPECT_EQ(convolution.factors[0].result_dims, (std::vector<int>{0}));
}

TEST(PlanIntra, AnEmptyArrayStaysWhole) {
  for (const Search search : {Search::kOptimize, Search::kPropagate}) {
    ModuleBuilder module("m");
    ComputationBuilder b("main");
    const InstructionId x = b.parameter(f32({0, 8}));
    const InstructionId sum = b.op(Opcode::kAdd, f32({0, 8}), {x, x});
    const Module built = std::move(module).build(std::move(b).build(b.op(Opcode::kMultiply, f32({0, 8}), {sum, x})));
    const hlo::ValueGraph graph = hlo::build_value_graph(built);
    const cost::CollectiveModel collectives(mesh::local_cpu(8), mesh::LogicalMesh({8}));
    IntraRequest request = request_for(built, graph, collectives);
    request.search = search;
    request.feeds = {};
    const Assignment assignment = plan_intra(request);
    EXPECT_TRUE(assignment.spec(graph, graph.inputs[0]).dims[0].empty());
  }
}

TEST(Rules, IntegersHaveNoAllReduceOfTheirBits) {
  const auto factors = [](Opcode opcode, DType dtype, double init) {
    ModuleBuilder module("m");
    ComputationBuilder b("main");
    const InstructionId x = b.parameter(Shape(dtype, {8, 16}));
    const InstructionId root = b.with_dimensions(Opcode::kReduce, Shape(dtype, {16}), {x, b.scalar(dtype, init)}, {0},
                                                 {module.reducer(opcode, dtype)});
    return rule_of(std::move(module).build(std::move(b).build(root))).factors.size();
  };
  EXPECT_EQ(factors(Opcode::kOr, DType::kPred, 0), 2u);
  EXPECT_EQ(factors(Opcode::kAnd, DType::kPred, 1), 2u);
  EXPECT_EQ(factors(Opcode::kOr, DType::kS32, 0), 1u);
  EXPECT_EQ(factors(Opcode::kAnd, DType::kS32, -1), 1u);
  EXPECT_EQ(factors(Opcode::kAdd, DType::kS32, 0), 2u);
}

TEST(Rules, AComplexIdentityHasNoImaginaryPart) {
  const auto factors = [](Opcode opcode, double real, double imaginary) {
    tensor::Literal init(Shape(DType::kC64, {}));
    init.set(0, real);
    init.set_imaginary(0, imaginary);
    ModuleBuilder module("m");
    ComputationBuilder b("main");
    const InstructionId x = b.parameter(Shape(DType::kC64, {8, 16}));
    const InstructionId root = b.with_dimensions(Opcode::kReduce, Shape(DType::kC64, {16}), {x, b.constant(init)}, {0},
                                                 {module.reducer(opcode, DType::kC64)});
    return rule_of(std::move(module).build(std::move(b).build(root))).factors.size();
  };
  EXPECT_EQ(factors(Opcode::kAdd, 0, 0), 2u);
  EXPECT_EQ(factors(Opcode::kAdd, 0, 3000), 1u);
  EXPECT_EQ(factors(Opcode::kMultiply, 1, 0), 2u);
  EXPECT_EQ(factors(Opcode::kMultiply, 1, 1), 1u);
}

TEST(Lifetimes, ByHand) {
  Module module = two_layers();
  hlo::set_input_output_aliases(module, {{1, 1}});
  const hlo::ValueGraph graph = hlo::build_value_graph(module);
  const auto lives = lifetimes(module, graph);
  ASSERT_EQ(lives.size(), 6u);  // x w v dot tanh dot
  EXPECT_EQ(lives[0].end, 6);   // x is not donated: to the end
  EXPECT_EQ(lives[1].end, 6);   // w is an output as it is
  EXPECT_EQ(lives[3].begin, 3);
  EXPECT_EQ(lives[3].end, 5);      // h: used by tanh
  EXPECT_TRUE(lives[4].occupies);  // tanh feeds a dot: it exists
  EXPECT_EQ(lives[4].end, 6);
}

// y = 2 w, twice over: w dies at its last use only if it is donated.
TEST(Lifetimes, OnlyDonatedInputsDieEarly) {
  ModuleBuilder builder("m");
  ComputationBuilder b("main");
  const InstructionId w = b.parameter(f32({8}));
  const InstructionId two = b.op(Opcode::kAdd, f32({8}), {w, w});
  const InstructionId sorted = b.with_dimensions(Opcode::kReverse, f32({8}), {two}, {0});
  Module module = std::move(builder).build(std::move(b).build(b.tuple({sorted})));
  const hlo::ValueGraph graph = hlo::build_value_graph(module);
  EXPECT_EQ(lifetimes(module, graph)[0].end, 3);
  hlo::set_input_output_aliases(module, {{0, 0}});
  EXPECT_EQ(lifetimes(module, graph)[0].end, 2);
}

// for (i = 0; i < 3; ++i) h = dot(h, w): the state of a loop lives as long as the loop, w too though its use comes
// first.
TEST(Lifetimes, LoopCarriesLiveToTheEndOfTheLoop) {
  const Shape kCount(DType::kS32, {});
  const Shape square = f32({8, 8});
  const Shape carry = Shape::tuple({kCount, square, square});
  ModuleBuilder builder("m");
  ComputationBuilder body("body");
  const InstructionId state = body.parameter(carry);
  const InstructionId w = body.get_tuple_element(state, 2);
  const InstructionId h = body.dot(square, body.get_tuple_element(state, 1), w, {{1}, {0}, {}, {}});
  const InstructionId turned = body.with_dimensions(Opcode::kReverse, square, {h}, {0});
  const InstructionId i =
      body.op(Opcode::kAdd, kCount, {body.get_tuple_element(state, 0), body.scalar(DType::kS32, 1)});
  const hlo::ComputationId body_id = builder.add(std::move(body).build(body.tuple({i, turned, w})));
  ComputationBuilder condition("condition");
  const InstructionId inside = condition.get_tuple_element(condition.parameter(carry), 0);
  const hlo::ComputationId condition_id =
      builder.add(std::move(condition).build(condition.compare("LT", inside, condition.scalar(DType::kS32, 3))));
  ComputationBuilder main("main");
  const InstructionId h0 = main.parameter(square);
  const InstructionId init = main.tuple({main.scalar(DType::kS32, 0), h0, main.parameter(square)});
  const InstructionId loop = main.calling(Opcode::kWhile, carry, {init}, {body_id, condition_id});
  const InstructionId last = main.get_tuple_element(loop, 1);
  const InstructionId result = main.with_dimensions(Opcode::kReverse, square, {last}, {1});
  const Module module = std::move(builder).build(std::move(main).build(result));
  const hlo::ValueGraph graph = hlo::build_value_graph(module);
  const auto lives = lifetimes(module, graph);
  const auto find = [&](hlo::Node::Kind kind, Opcode opcode, hlo::ComputationId computation, int leaf) {
    for (size_t id = 0; id < graph.nodes.size(); ++id) {
      const hlo::Node& node = graph.nodes[id];
      const Opcode its = module.computation(node.computation)[node.instruction].opcode;
      if (node.kind == kind && its == opcode && node.computation == computation && node.leaf == leaf) return id;
    }
    return graph.nodes.size();
  };
  const size_t carried_h = find(hlo::Node::Kind::kCarry, Opcode::kWhile, module.entry, 1);
  const size_t carried_w = find(hlo::Node::Kind::kCarry, Opcode::kWhile, module.entry, 2);
  const size_t add = find(hlo::Node::Kind::kOperation, Opcode::kAdd, body_id, 0);
  const size_t next_h = find(hlo::Node::Kind::kOperation, Opcode::kReverse, body_id, 0);
  const size_t after = find(hlo::Node::Kind::kOperation, Opcode::kReverse, module.entry, 0);
  const auto end_of_loop = static_cast<int64_t>(std::max(add, next_h)) + 1;
  EXPECT_EQ(lives[carried_w].end, end_of_loop);
  EXPECT_EQ(lives[carried_h].end, static_cast<int64_t>(after) + 1);
  EXPECT_FALSE(lives[next_h].occupies);  // h is dead when it is made: it takes h's memory
}

}  // namespace
}  // namespace alpa::planner
