// For each (opcode, operand specs, result specs) that a rule emits: the value equals one device's, the bytes found
// after partitioning equal the bytes predicted, and dots and convolutions are divided as claimed. For each elementary
// change of placement, and for chains of them, the same. Without arguments a covering subset; ALPA_FULL_MATRIX=1:
// everything on both plug-ins.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "alpa/base/error.h"
#include "alpa/compiler/compile.h"
#include "alpa/cost/reshard_model.h"
#include "alpa/hlo/builder.h"
#include "alpa/hlo/flops.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/pjrt/client.h"
#include "alpa/planner/intra/strategy.h"
#include "op_cases.h"

namespace alpa::property {
namespace {

using sharding::ShardingSpec;

bool full_matrix() { return std::getenv("ALPA_FULL_MATRIX") != nullptr; }

const std::vector<std::string>& plugins() {
  static const std::vector<std::string> paths = [] {
    const std::string site = std::string(ALPA_VENV) + "/lib/python3.11/site-packages/";
    return std::vector<std::string>{site + "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
                                    site + "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"};
  }();
  return paths;
}

const pjrt::Client& client(int plugin) {
  static std::map<int, pjrt::Client> clients;
  const auto found = clients.find(plugin);
  if (found != clients.end()) return found->second;
  return clients
      .emplace(plugin, pjrt::Client::create(pjrt::Plugin::load(plugins()[static_cast<size_t>(plugin)]),
                                            {.cpu_device_count = 8}))
      .first->second;
}

tensor::Literal random_literal(const tensor::Shape& shape, int64_t bound, std::mt19937& random) {
  tensor::Literal literal(shape);
  std::uniform_real_distribution<double> real(-1, 1);
  std::uniform_int_distribution<int64_t> integer(-1, bound);
  for (int64_t k = 0; k < tensor::num_elements(shape); ++k) {
    if (shape.dtype == tensor::DType::kPred) {
      literal.set(k, static_cast<double>(integer(random) % 2 != 0));
    } else {
      literal.set(
          k, tensor::is_integral(shape.dtype)
                 ? static_cast<double>(std::max<int64_t>(integer(random), tensor::name(shape.dtype)[0] == 'u' ? 0 : -1))
                 : real(random));
    }
  }
  return literal;
}

// Largest difference, relative to the largest value.
double difference(const tensor::Literal& a, const tensor::Literal& b) {
  double largest = 1e-6;
  double worst = 0;
  for (int64_t k = 0; k < tensor::num_elements(a.shape()); ++k) {
    const double x = a.at(k);
    const double y = b.at(k);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y) continue;
    largest = std::max(largest, std::abs(x));
    const double delta = std::abs(x - y);
    worst = std::isnan(delta) ? std::numeric_limits<double>::infinity() : std::max(worst, delta);
  }
  return worst / largest;
}

struct Outcome {
  std::vector<tensor::Literal> outputs;
  std::map<std::string, hlo::CollectiveTotal> found;
  int64_t contraction_flops = 0;
};

Outcome run(const compiler::Program& program, const plan::Plan& plan, const std::vector<tensor::Literal>& inputs,
            int plugin) {
  const mesh::ClusterSpec cluster = mesh::local_cpu(8);
  compiler::Compiled compiled = compiler::compile(program, plan, cluster, client(plugin));
  compiled.executable.set_inputs(inputs);
  compiled.executable.step();
  compiled.executable.sync();
  Outcome outcome{{}, compiled.found, compiled.contraction_flops};
  for (size_t k = 0; k < plan.outputs.size(); ++k)
    outcome.outputs.push_back(compiled.executable.output(static_cast<int>(k)));
  return outcome;
}

// Everything replicated but what the strategy says of the operation and of the parameters that it takes.
plan::Plan plan_of(const compiler::Program& program, hlo::NodeId node, const planner::Strategy& strategy,
                   const mesh::LogicalMesh& mesh) {
  const hlo::ValueGraph& graph = program.graph;
  std::vector<ShardingSpec> specs;
  for (const hlo::Value& value : graph.values) specs.push_back(ShardingSpec::replicated(value.shape.rank()));
  const hlo::Node& operation = graph.nodes[static_cast<size_t>(node)];
  for (size_t k = 0; k < operation.operands.size(); ++k)
    specs[static_cast<size_t>(operation.operands[k])] = strategy.operands[k];
  for (size_t k = 0; k < operation.results.size(); ++k)
    specs[static_cast<size_t>(operation.results[k])] = strategy.results[k];
  plan::Plan plan;
  plan.program_hash = program.hash;
  plan.mesh = mesh;
  for (const hlo::Node& one : graph.nodes) {
    auto& list = plan.ops[program.module.computation(one.computation)[one.instruction].name];
    for (const hlo::ValueId value : one.results) list.push_back(specs[static_cast<size_t>(value)]);
  }
  for (const hlo::ValueId value : graph.inputs)
    plan.inputs.push_back({"", graph.values[static_cast<size_t>(value)].shape, specs[static_cast<size_t>(value)]});
  for (const hlo::ValueId value : graph.outputs)
    plan.outputs.push_back({"", graph.values[static_cast<size_t>(value)].shape, specs[static_cast<size_t>(value)]});
  return plan;
}

std::string describe(const planner::Strategy& strategy, const mesh::LogicalMesh& mesh) {
  std::string text;
  for (const ShardingSpec& spec : strategy.operands) text += to_string(spec, mesh) + " ";
  text += "->";
  for (const ShardingSpec& spec : strategy.results) text += " " + to_string(spec, mesh);
  return text;
}

std::string describe(const std::map<std::string, hlo::CollectiveTotal>& totals) {
  std::string text;
  for (const auto& [kind, total] : totals) {
    if (total.count > 0) text += fmt::format("{} x{} {} bytes; ", kind, total.count, total.bytes);
  }
  return text.empty() ? "nothing" : text;
}

bool same_bytes(const std::map<std::string, hlo::CollectiveTotal>& a,
                const std::map<std::string, hlo::CollectiveTotal>& b) {
  const auto bytes = [](const auto& totals, const std::string& kind) {
    const auto found = totals.find(kind);
    return found == totals.end() ? 0.0 : found->second.bytes;
  };
  for (const auto* totals : {&a, &b}) {
    for (const auto& [kind, total] : *totals) {
      if (bytes(a, kind) != bytes(b, kind)) return false;
    }
  }
  return true;
}

double tolerance(const tensor::Shape& shape) {
  if (shape.dtype == tensor::DType::kBF16 || shape.dtype == tensor::DType::kF16) return 2e-2;
  return tensor::is_floating(shape.dtype) ? 1e-5 : 0;
}

using Parameter = std::tuple<int, std::string>;  // plug-in, mesh

class Operations : public testing::TestWithParam<Parameter> {};

TEST_P(Operations, EveryStrategyIsRightAndMovesThePredictedBytes) {
  const auto& [plugin, mesh_text] = GetParam();
  const mesh::LogicalMesh mesh = mesh::LogicalMesh::parse(mesh_text);
  const mesh::ClusterSpec cluster = mesh::local_cpu(8);
  const cost::CollectiveModel collectives(cluster, mesh);
  const size_t most =
      full_matrix() ? std::numeric_limits<size_t>::max() : 6;  // of one operation, spread over its strategies
  int64_t tried = 0;
  const char* only = std::getenv("ALPA_ONLY_OP");
  for (const OpCase& one : op_cases()) {
    if (only != nullptr && one.name.find(only) == std::string::npos) continue;
    const compiler::Program program = compiler::load_program(hlo::write_module(one.module), one.name, std::nullopt, {});
    hlo::NodeId target = static_cast<hlo::NodeId>(program.graph.nodes.size()) - 1;
    std::mt19937 random(7);
    std::vector<tensor::Literal> inputs;
    for (const hlo::ValueId input : program.graph.inputs)
      inputs.push_back(
          random_literal(program.graph.values[static_cast<size_t>(input)].shape, one.integer_bound, random));
    const planner::Strategy whole = [&] {
      planner::Strategy strategy;
      for (const hlo::ValueId value : program.graph.nodes[static_cast<size_t>(target)].operands)
        strategy.operands.push_back(
            ShardingSpec::replicated(program.graph.values[static_cast<size_t>(value)].shape.rank()));
      for (const hlo::ValueId value : program.graph.nodes[static_cast<size_t>(target)].results)
        strategy.results.push_back(
            ShardingSpec::replicated(program.graph.values[static_cast<size_t>(value)].shape.rank()));
      return strategy;
    }();
    SCOPED_TRACE(one.name);
    Outcome single;
    try {
      single = run(program, plan_of(program, target, whole, mesh::LogicalMesh({1})), inputs, plugin);
    } catch (const Error& error) {
      ADD_FAILURE() << "on one device: " << error.what();
      continue;
    }
    planner::StrategyMaker maker(program.module, program.graph, collectives);
    const auto table = maker.table(program.graph.nodes[static_cast<size_t>(target)]);
    const size_t stride = table->strategies.size() <= most ? 1 : (table->strategies.size() + most - 1) / most;
    for (size_t k = 0; k < table->strategies.size(); k += stride) {
      const planner::Strategy& strategy = table->strategies[k];
      SCOPED_TRACE(one.name + " " + describe(strategy, mesh));
      ++tried;
      Outcome outcome;
      try {
        outcome = run(program, plan_of(program, target, strategy, mesh), inputs, plugin);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
        continue;
      }
      for (size_t output = 0; output < outcome.outputs.size(); ++output) {
        EXPECT_LE(difference(single.outputs[output], outcome.outputs[output]),
                  tolerance(single.outputs[output].shape()))
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
        const double parts =
            std::round(static_cast<double>(single.contraction_flops) / rate / strategy.compute_seconds);
        EXPECT_EQ(outcome.contraction_flops * static_cast<int64_t>(parts),
                  single.contraction_flops * mesh.num_devices());
      }
    }
  }
  RecordProperty("strategies_tried", std::to_string(tried));
}

class Resharding : public testing::TestWithParam<Parameter> {};

// One program changes a parameter's placement step by step; `chain` are the specs after each step.
void check_chain(const tensor::Shape& shape, const ShardingSpec& from, const std::vector<sharding::ReshardStep>& steps,
                 const mesh::LogicalMesh& mesh, int plugin) {
  hlo::ComputationBuilder builder("main");
  hlo::InstructionId at = builder.parameter(shape);
  std::string text = to_string(from, mesh);
  plan::Plan plan;
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

// Not a check but a survey (ALPA_SURVEY=1): every way to divide one dim of each operand and result eight ways that no
// rule emits; prints those whose value stock XLA computes wrongly, or refuses.
TEST(Survey, WhatNoRuleEmitsAndXlaComputesWrongly) {
  if (std::getenv("ALPA_SURVEY") == nullptr) return;
  const mesh::LogicalMesh mesh = mesh::LogicalMesh::parse("8");
  for (const OpCase& one : op_cases()) {
    std::fflush(stdout);
    if (one.module.entry_computation().size() <= 3 &&
        hlo::is_elementwise(one.module.entry_computation().instructions.back().opcode))
      continue;
    const compiler::Program program = compiler::load_program(hlo::write_module(one.module), one.name, std::nullopt, {});
    const hlo::NodeId target = static_cast<hlo::NodeId>(program.graph.nodes.size()) - 1;
    const hlo::Node& node = program.graph.nodes[static_cast<size_t>(target)];
    std::mt19937 random(7);
    std::vector<tensor::Literal> inputs;
    for (const hlo::ValueId input : program.graph.inputs)
      inputs.push_back(
          random_literal(program.graph.values[static_cast<size_t>(input)].shape, one.integer_bound, random));
    std::vector<std::vector<ShardingSpec>> choices;
    for (const hlo::ValueId value : node.operands)
      choices.push_back(sharding::enumerate_specs(program.graph.values[static_cast<size_t>(value)].shape, mesh));
    choices.push_back(
        sharding::enumerate_specs(program.graph.values[static_cast<size_t>(node.results[0])].shape, mesh));
    planner::Strategy strategy;
    for (const hlo::ValueId value : node.operands)
      strategy.operands.push_back(
          ShardingSpec::replicated(program.graph.values[static_cast<size_t>(value)].shape.rank()));
    for (const hlo::ValueId value : node.results)
      strategy.results.push_back(
          ShardingSpec::replicated(program.graph.values[static_cast<size_t>(value)].shape.rank()));
    const Outcome single = run(program, plan_of(program, target, strategy, mesh::LogicalMesh({1})), inputs, 0);
    size_t combinations = 1;
    for (const auto& list : choices) combinations *= list.size();
    for (size_t index = 0; index < combinations; ++index) {
      size_t rest = index;
      for (size_t k = 0; k < choices.size(); ++k) {
        const ShardingSpec& spec = choices[k][rest % choices[k].size()];
        rest /= choices[k].size();
        if (k < node.operands.size())
          strategy.operands[k] = spec;
        else
          strategy.results[0] = spec;
      }
      for (size_t k = 1; k < strategy.results.size(); ++k)
        strategy.results[k] =
            strategy.results[k].rank() == strategy.results[0].rank() ? strategy.results[0] : strategy.results[k];
      try {
        const Outcome outcome = run(program, plan_of(program, target, strategy, mesh), inputs, 0);
        for (size_t output = 0; output < outcome.outputs.size(); ++output) {
          const double error = difference(single.outputs[output], outcome.outputs[output]);
          if (error > 10 * tolerance(single.outputs[output].shape()))
            fmt::print("WRONG {} {} error {:.3g}\n", one.name, describe(strategy, mesh), error);
        }
      } catch (const Error& error) {
        fmt::print("REFUSED {} {}: {}\n", one.name, describe(strategy, mesh), std::string(error.what()).substr(0, 160));
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
