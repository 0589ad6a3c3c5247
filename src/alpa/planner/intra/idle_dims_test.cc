#include "alpa/planner/intra/idle_dims.h"

#include <gtest/gtest.h>

#include "alpa/hlo/builder.h"
#include "alpa/planner/intra/problem_builder.h"

namespace alpa::planner {
namespace {

using hlo::ComputationBuilder;
using hlo::InstructionId;
using hlo::Module;
using hlo::ModuleBuilder;
using hlo::Opcode;
using sharding::ShardingSpec;
using tensor::DType;
using tensor::Shape;

Shape f32(std::vector<int64_t> dims) { return Shape(DType::kF32, std::move(dims)); }

// A convolution of images [B,H,W,C], an activation, and, if asked, a product over [H·W,C] after it.
Module images(bool with_product) {
  ModuleBuilder module("images");
  ComputationBuilder b("main");
  const hlo::ConvolutionDims nhwc{0, 3, 2, 3, 0, 3, {1, 2}, {0, 1}, {1, 2}, 1, 1};
  const hlo::WindowDim same{3, 1, 1, 1, 1, 1, false};
  const InstructionId x = b.parameter(f32({8, 16, 16, 8}), "x");
  const InstructionId k = b.parameter(f32({3, 3, 8, 8}), "k");
  const InstructionId y = b.convolution(f32({8, 16, 16, 8}), x, k, {same, same}, nhwc);
  const InstructionId a = b.op(Opcode::kTanh, f32({8, 16, 16, 8}), {y});
  if (!with_product) return std::move(module).build(std::move(b).build(a));
  const InstructionId w = b.parameter(f32({8, 8}), "w");
  const InstructionId rows = b.op(Opcode::kReshape, f32({8, 256, 8}), {a});
  return std::move(module).build(std::move(b).build(b.dot(f32({8, 256, 8}), rows, w, {{2}, {0}, {}, {}})));
}

struct Planned {
  explicit Planned(Module given) : module(std::move(given)), graph(hlo::build_value_graph(module)) {}

  IntraRequest request() const {
    return {.module = module,
            .graph = graph,
            .collectives = collectives,
            .pinned_inputs = {},
            .feeds = {},
            .memory_cap_bytes = std::nullopt,
            .search = Search::kOptimize,
            .start_inputs = {},
            .solver = {}};
  }

  std::vector<bool> idle_dims_of_first_input(const IntraRequest& request) const {
    const RuleBook rules(module, graph);
    const IdleDims dims(request, rules);
    std::vector<bool> result;
    for (int dim = 0; dim < 4; ++dim) result.push_back(dims.idle(graph.inputs[0], dim));
    return result;
  }

  Module module;
  hlo::ValueGraph graph;
  cost::CollectiveModel collectives{mesh::local_cpu(8), mesh::LogicalMesh({2, 4})};
};

TEST(IdleDims, AreThoseThatConvolutionsKeepWhole) {
  const Planned program(images(false));
  EXPECT_EQ(program.idle_dims_of_first_input(program.request()), (std::vector<bool>{false, true, true, false}));
}

TEST(IdleDims, AreNotThoseThatAnotherContractionDivides) {
  // Rows of images become rows of a matrix.
  const Planned program(images(true));
  const RuleBook rules(program.module, program.graph);
  const IdleDims dims(program.request(), rules);
  const hlo::ValueId activation = program.graph.nodes[program.graph.nodes.size() - 3].results[0];
  ASSERT_EQ(program.graph.values[static_cast<size_t>(activation)].shape.rank(), 4);
  EXPECT_FALSE(dims.idle(activation, 1));
  EXPECT_TRUE(dims.idle(activation, 2));
}

TEST(IdleDims, AreNotThoseThatAreAskedFor) {
  const Planned program(images(false));
  IntraRequest request = program.request();
  ShardingSpec spec = ShardingSpec::replicated(4);
  spec.dims[1].push_back(0);
  request.pinned_inputs = {spec, std::nullopt};
  EXPECT_EQ(program.idle_dims_of_first_input(request), (std::vector<bool>{false, false, true, false}));
  EXPECT_EQ(plan_intra(request).spec(program.graph, program.graph.inputs[0]), spec);
}

TEST(IdleDims, NoStrategyDividesThem) {
  const Planned program(images(false));
  const IntraRequest request = program.request();
  cost::ReshardModel reshard(program.collectives);
  const IntraProblem problem = build_problem(request, reshard);
  for (size_t node = 0; node < problem.tables.size(); ++node) {
    if (program.graph.values[static_cast<size_t>(program.graph.nodes[node].results[0])].shape.dims[1] != 16) continue;
    for (const Strategy& strategy : problem.tables[node]->strategies) {
      EXPECT_TRUE(strategy.results[0].dims[1].empty());
      EXPECT_TRUE(strategy.results[0].dims[2].empty());
    }
  }
}

}  // namespace
}  // namespace alpa::planner
