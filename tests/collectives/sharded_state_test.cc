// Data parallelism with the optimizer's state divided: what is left of each gradient's all-reduce is a reduce-scatter,
// and one all-gather brings the parameters together.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "alpa/base/file.h"
#include "alpa/compiler/compile.h"
#include "alpa/compiler/plan_program.h"
#include "alpa/tensor/safetensors.h"
#include "run_spmd.h"

namespace alpa::collectives {
namespace {

using sharding::ShardingSpec;

constexpr const char* kFolder = ALPA_TEST_DATA "/models/mlp/";

bool is_kernel(const tensor::Shape& shape) { return shape.rank() == 2 && shape.dims[0] > 32; }  // the batch is 32

/// Divides all that the optimizer computes of the kernels: every elementwise value of a kernel's shape but the kernels
/// themselves.
plan::Plan with_divided_state(const compiler::Program& program, plan::Plan plan, const std::string& spec) {
  const ShardingSpec divided = sharding::parse_spec(spec, plan.mesh, 2);
  const hlo::ValueGraph& graph = program.graph;
  std::vector<bool> whole(graph.values.size(), false);
  for (size_t k = 0; k < graph.outputs.size(); ++k)
    whole[static_cast<size_t>(graph.outputs[k])] = plan.outputs[k].name.starts_with("params.");
  for (auto* tensors : {&plan.inputs, &plan.outputs}) {
    for (plan::TensorPlan& tensor : *tensors) {
      if (tensor.name.starts_with("opt_state.") && is_kernel(tensor.shape)) tensor.spec = divided;
    }
  }
  for (size_t k = 0; k < graph.inputs.size(); ++k)
    plan.ops[program.module
                 .entry_computation()
                     [graph.nodes[static_cast<size_t>(graph.values[static_cast<size_t>(graph.inputs[k])].producer)]
                          .instruction]
                 .name] = {plan.inputs[k].spec};
  for (hlo::NodeId id = 0; id < static_cast<hlo::NodeId>(graph.nodes.size()); ++id) {
    const hlo::Node& node = graph.nodes[static_cast<size_t>(id)];
    const hlo::Instruction& one = program.module.computation(node.computation)[node.instruction];
    if (node.kind != hlo::Node::Kind::kOperation || hlo::is_generator(program.module, graph, id)) continue;
    if (!hlo::is_elementwise(one.opcode) || node.results.size() != 1 || !is_kernel(one.shape)) continue;
    const ShardingSpec& wanted =
        whole[static_cast<size_t>(node.results[0])] ? ShardingSpec::replicated(one.shape.rank()) : divided;
    plan.ops[one.name] = {wanted};
    auto& operands = plan.operands[one.name];
    operands.clear();
    for (const hlo::ValueId operand : node.operands) {
      const int rank = graph.values[static_cast<size_t>(operand)].shape.rank();
      operands.push_back(rank == one.shape.rank() ? wanted : ShardingSpec::replicated(rank));
    }
  }
  return plan;
}

struct Counts {
  double all_reduce = 0;
  double reduce_scatter = 0;
  double all_gather = 0;
};

void expect_counts(const std::string& mesh, const std::string& spec, const Counts& counts) {
  const compiler::Meta meta = compiler::parse_meta(read_file(std::string(kFolder) + "meta.json"), "meta.json");
  const compiler::Program program =
      compiler::load_program(read_file(std::string(kFolder) + "train_step.hlo.pb.xz"), "mlp", meta, {});
  compiler::PlanOptions options;
  options.method = compiler::Method::kData;
  options.mesh = mesh::LogicalMesh::parse(mesh);
  options.cluster = mesh::local_cpu(8);
  const plan::Plan plan = with_divided_state(program, compiler::plan_program(program, options), spec);
  const auto given = tensor::read_safetensors(read_file(std::string(kFolder) + "inputs.safetensors"), "inputs");
  const auto expected = tensor::read_safetensors(read_file(std::string(kFolder) + "expected.safetensors"), "expected");
  std::vector<tensor::Literal> inputs;
  for (const compiler::InputMeta& input : meta.inputs)
    inputs.push_back(input.zeros ? tensor::Literal(input.shape) : given.at(input.name));
  for (const int plugin : {0, 1}) {
    compiler::Compiled compiled = compiler::compile(program, plan, pjrt::eight_devices(plugin));
    const auto count = [&](const std::string& kind) {
      return compiled.found.contains(kind) ? compiled.found.at(kind).count : 0;
    };
    EXPECT_EQ(count("all-reduce"), counts.all_reduce) << mesh << " " << spec;
    EXPECT_EQ(count("reduce-scatter"), counts.reduce_scatter) << mesh << " " << spec;
    EXPECT_EQ(count("all-gather"), counts.all_gather) << mesh << " " << spec;
    compiled.executable.set_inputs(inputs);
    const tensor::Literal& losses = expected.at("loss");
    for (int64_t step = 0; step < tensor::num_elements(losses.shape()); ++step) {
      compiled.executable.step();
      compiled.executable.sync();
      const double loss = compiled.executable.output(static_cast<int>(plan.outputs.size()) - 1).at(0);
      EXPECT_LE(std::abs(loss - losses.at(step)), 1e-5 * std::abs(losses.at(step))) << mesh << " " << spec;
    }
  }
}

TEST(ShardedState, TakesOneReduceScatterAndOneAllGather) {
  expect_counts("8", "(x,None)", {1, 1, 1});
  expect_counts("8", "(None,x)", {1, 1, 2});        // rearranged, more than may lie there at once
  expect_counts("2x4", "((x+y),None)", {1, 1, 1});  // planned axis by axis
}

// The gradient is divided along y; what is left is summed along x.
TEST(ShardedState, SumsThePartsAmongThoseThatKeepTheSame) { expect_counts("2x4", "(y,None)", {2, 1, 1}); }

// Each dim along its axis: one after the other.
TEST(ShardedState, DividesTwoDimsOneAfterTheOther) { expect_counts("2x4", "(x,y)", {1, 2, 3}); }

}  // namespace
}  // namespace alpa::collectives
