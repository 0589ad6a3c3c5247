// For each (opcode, operand specs, result specs) that a rule emits: the value equals one device's, the bytes found
// after partitioning equal the bytes predicted, and dots and convolutions are divided as claimed. For each elementary
// change of placement, and for chains of them, the same. A covering subset by default; ALPA_FULL_MATRIX=1: everything
// on both plug-ins.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "alpa/base/error.h"
#include "alpa/cost/reshard_model.h"
#include "alpa/hlo/builder.h"
#include "alpa/hlo/proto_io.h"
#include "op_cases.h"
#include "op_harness.h"
#include "random_programs.h"

namespace alpa::property {
namespace {

using sharding::ShardingSpec;

using Parameter = std::tuple<int, std::string>;  // plug-in, mesh

class Operations : public testing::TestWithParam<Parameter> {};

/// Values are those of one device, and bytes and divided work what the strategy says.
void expect_as_predicted(const planner::Strategy& strategy, const mesh::LogicalMesh& mesh,
                         const mesh::ClusterSpec& cluster, const Outcome& single, const Outcome& outcome) {
  for (size_t output = 0; output < outcome.outputs.size(); ++output) {
    EXPECT_LE(difference(single.outputs[output], outcome.outputs[output]), tolerance(single.outputs[output].shape()))
        << "output " << output;
  }
  std::map<std::string, hlo::CollectiveTotal> predicted;
  for (const planner::Communication& communication : strategy.communication) {
    predicted[std::string(hlo::name(communication.kind))].count += 1;
    predicted[std::string(hlo::name(communication.kind))].bytes += static_cast<double>(communication.bytes);
  }
  EXPECT_TRUE(same_bytes(outcome.found, predicted))
      << "found " << describe(outcome.found) << " predicted " << describe(predicted);
  if (single.contraction_flops > 0) {
    const double rate = cluster.device.flops_for(tensor::name(single.outputs[0].shape().dtype));
    const double parts = std::round(static_cast<double>(single.contraction_flops) / rate / strategy.compute_seconds);
    EXPECT_EQ(outcome.contraction_flops * static_cast<int64_t>(parts), single.contraction_flops * mesh.num_devices());
  }
}

/// A scattered sum is one only after the collective passes; before them it is an all-reduce and a slice.
compiler::Collectives collectives_for(const planner::Strategy& strategy) {
  const bool scatters =
      std::any_of(strategy.communication.begin(), strategy.communication.end(),
                  [](const planner::Communication& one) { return one.kind == hlo::Opcode::kReduceScatter; });
  return scatters ? compiler::Collectives::kRewritten : compiler::Collectives::kPartitioner;
}

TEST_P(Operations, EveryStrategyIsRightAndMovesThePredictedBytes) {
  const auto& [plugin, mesh_text] = GetParam();
  const mesh::LogicalMesh mesh = mesh::LogicalMesh::parse(mesh_text);
  const mesh::ClusterSpec cluster = mesh::local_cpu(8);
  const cost::CollectiveModel collectives(cluster, mesh);
  const size_t most =
      full_matrix() ? std::numeric_limits<size_t>::max() : 6;  // of one operation, spread over its strategies
  int64_t tried = 0;
  const char* only = std::getenv("ALPA_ONLY_OP");  // for work on a rule: part of an operation's name
  for (const OpCase& one : op_cases()) {
    if (only != nullptr && one.name.find(only) == std::string::npos) continue;
    const compiler::Program program = compiler::load_program(hlo::write_module(one.module), one.name, std::nullopt, {});
    hlo::NodeId target = static_cast<hlo::NodeId>(program.graph.nodes.size()) - 1;
    const std::vector<tensor::Literal> inputs = random_inputs(program, one.integer_bound);
    const planner::Strategy whole = whole_strategy(program, target);
    SCOPED_TRACE(one.name);
    Outcome single;
    try {
      single = run(program, plan_of(program, target, whole, mesh::LogicalMesh({1})), inputs, plugin);
    } catch (const Error& error) {
      ADD_FAILURE() << "on one device: " << error.what();
      continue;
    }
    const planner::RuleBook rules(program.module, program.graph);
    planner::StrategyMaker maker(rules, program.graph, collectives);
    const auto table = maker.table(target);
    const size_t stride = table->strategies.size() <= most ? 1 : (table->strategies.size() + most - 1) / most;
    for (size_t k = 0; k < table->strategies.size(); k += stride) {
      const planner::Strategy& strategy = table->strategies[k];
      SCOPED_TRACE(one.name + " " + describe(strategy, mesh));
      ++tried;
      Outcome outcome;
      try {
        outcome = run(program, plan_of(program, target, strategy, mesh), inputs, plugin, collectives_for(strategy));
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
        continue;
      }
      expect_as_predicted(strategy, mesh, cluster, single, outcome);
    }
  }
  RecordProperty("strategies_tried", std::to_string(tried));
}

bool indexes(const OpCase& one) {
  return one.name.starts_with("dynamic_") || one.name.starts_with("gather_") || one.name.starts_with("scatter_");
}

// A change of placement in front of what indexes, or after it, is a slice that the compiler may merge with it.
TEST_P(Operations, IndexingIsRightWhateverIsDividedBeforeAndAfterIt) {
  const auto& [plugin, mesh_text] = GetParam();
  const mesh::LogicalMesh mesh = mesh::LogicalMesh::parse(mesh_text);
  const uint32_t ways = full_matrix() ? 40 : 3;
  for (const OpCase& one : op_cases()) {
    if (!indexes(one)) continue;
    const compiler::Program program = compiler::load_program(hlo::write_module(one.module), one.name, std::nullopt, {});
    const auto inputs = random_inputs(program, one.integer_bound);
    const Outcome single = run(program, random_plan(program, mesh::LogicalMesh({1}), 0), inputs, plugin);
    for (uint32_t way = 0; way < ways; ++way) {
      SCOPED_TRACE(one.name + ", way " + std::to_string(way));
      const Outcome outcome = run(program, random_plan(program, mesh, way), inputs, plugin);
      EXPECT_LE(difference(single.outputs[0], outcome.outputs[0]), tolerance(single.outputs[0].shape()));
    }
  }
}

class Resharding : public testing::TestWithParam<Parameter> {};

// One program changes a parameter's placement step by step; `chain` are the specs after each step.
void check_chain(const tensor::Shape& shape, const ShardingSpec& from, const std::vector<sharding::ReshardStep>& steps,
                 const mesh::LogicalMesh& mesh, int plugin) {
  hlo::ComputationBuilder builder("main");
  hlo::InstructionId at = builder.parameter(shape);
  std::string text = to_string(from, mesh);
  plan::Plan plan;
  plan.cluster = mesh::local_cpu(8);
  plan.mesh = mesh;
  std::map<std::string, hlo::CollectiveTotal> predicted;
  ShardingSpec before = from;
  std::vector<ShardingSpec> specs{from};
  for (const sharding::ReshardStep& step : steps) {
    at = builder.op(hlo::Opcode::kCopy, shape, {at});
    text += " -> " + to_string(step.result, mesh);
    if (step.kind != sharding::ReshardStep::Kind::kSlice) {
      auto& total = predicted[std::string(sharding::name(step.kind))];
      total.count += 1;
      total.bytes += static_cast<double>(step_bytes(shape, before, step, mesh));
    }
    before = step.result;
    specs.push_back(before);
  }
  SCOPED_TRACE(text);
  hlo::ModuleBuilder module("reshard");
  const compiler::Program program = compiler::load_program(
      hlo::write_module(std::move(module).build(std::move(builder).build(at))), "reshard", std::nullopt, {});
  plan.program_hash = program.hash;
  for (const hlo::Node& node : program.graph.nodes) {
    const hlo::Instruction& instruction = program.module.computation(node.computation)[node.instruction];
    plan.ops[instruction.name] = {specs[static_cast<size_t>(node.instruction)]};
    // A copy takes what is there and places it anew: its operand keeps the placement before.
    if (node.instruction > 0) plan.operands[instruction.name] = {specs[static_cast<size_t>(node.instruction) - 1]};
  }
  plan.inputs = {{"", shape, from}};
  plan.outputs = {{"", shape, before}};
  std::mt19937 random(3);
  const tensor::Literal input = random_literal(shape, 8, random);
  try {
    const Outcome outcome = run(program, plan, {input}, plugin);
    EXPECT_EQ(difference(input, outcome.outputs.at(0)), 0);
    EXPECT_TRUE(same_bytes(outcome.found, predicted))
        << "found " << describe(outcome.found) << " predicted " << describe(predicted);
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
}

TEST_P(Resharding, EveryStepMovesThePredictedBytes) {
  const auto& [plugin, mesh_text] = GetParam();
  const mesh::LogicalMesh mesh = mesh::LogicalMesh::parse(mesh_text);
  const size_t stride = full_matrix() ? 1 : mesh.num_axes() >= 3 ? 23 : 3;
  size_t count = 0;
  for (const tensor::Shape& shape :
       {tensor::Shape(tensor::DType::kF32, {64, 64}), tensor::Shape(tensor::DType::kF32, {64, 16, 32})}) {
    for (const ShardingSpec& from : sharding::enumerate_specs(shape, mesh)) {
      for (const sharding::ReshardStep& step : next_steps(shape, from, mesh)) {
        if (count++ % stride == 0) check_chain(shape, from, {step}, mesh, plugin);
      }
    }
  }
}

TEST_P(Resharding, ChainsAreNotMerged) {
  const auto& [plugin, mesh_text] = GetParam();
  const mesh::LogicalMesh mesh = mesh::LogicalMesh::parse(mesh_text);
  const mesh::ClusterSpec cluster = mesh::local_cpu(8);
  const cost::CollectiveModel collectives(cluster, mesh);
  cost::ReshardModel reshard(collectives);
  const size_t stride = full_matrix() ? 1 : mesh.num_axes() >= 3 ? 197 : 7;
  size_t count = 0;
  for (const tensor::Shape& shape :
       {tensor::Shape(tensor::DType::kF32, {64, 64}), tensor::Shape(tensor::DType::kF32, {64, 16, 32})}) {
    for (const ShardingSpec& from : sharding::enumerate_specs(shape, mesh)) {
      for (const ShardingSpec& to : sharding::enumerate_specs(shape, mesh)) {
        const auto steps = reshard.steps(shape, from, to);
        if (steps.size() > 1 && count++ % stride == 0) check_chain(shape, from, steps, mesh, plugin);
      }
    }
  }
}

std::vector<Parameter> parameters() {
  std::vector<Parameter> result;
  for (const char* mesh : {"8", "2x4", "2x2x2"}) {
    for (int plugin = 0; plugin < 2; ++plugin) {
      if (full_matrix() || plugin == 0 || std::string(mesh) == "2x4") result.emplace_back(plugin, mesh);
    }
  }
  return result;
}

std::string parameter_name(const testing::TestParamInfo<Parameter>& info) {
  return (std::get<0>(info.param) == 0 ? "new_xla_" : "old_xla_") + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(All, Operations, testing::ValuesIn(parameters()), parameter_name);
INSTANTIATE_TEST_SUITE_P(All, Resharding, testing::ValuesIn(parameters()), parameter_name);

}  // namespace
}  // namespace alpa::property
