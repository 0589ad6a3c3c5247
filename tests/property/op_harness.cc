#include "op_harness.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "alpa/mesh/cluster.h"

namespace alpa::property {

using sharding::ShardingSpec;

bool full_matrix() { return std::getenv("ALPA_FULL_MATRIX") != nullptr; }

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
      if (tensor::is_complex(shape.dtype)) literal.set_imaginary(k, real(random));
    }
  }
  return literal;
}

// Largest difference, relative to the largest value.
double difference(const tensor::Literal& a, const tensor::Literal& b) {
  double largest = 1e-6;
  double worst = 0;
  const auto compare = [&](double x, double y) {
    if (x == y || (std::isnan(x) && std::isnan(y))) return;
    largest = std::max(largest, std::abs(x));
    const double delta = std::abs(x - y);
    worst = std::isnan(delta) ? std::numeric_limits<double>::infinity() : std::max(worst, delta);
  };
  for (int64_t k = 0; k < tensor::num_elements(a.shape()); ++k) {
    compare(a.at(k), b.at(k));
    compare(a.imaginary_at(k), b.imaginary_at(k));
  }
  return worst / largest;
}

Outcome run(const compiler::Program& program, const plan::Plan& plan, const std::vector<tensor::Literal>& inputs,
            int plugin, compiler::Collectives collectives) {
  compiler::Compiled compiled =
      compiler::compile(program, plan, pjrt::eight_devices(plugin),
                        {.strategies = compiler::Strategies::kAny, .collectives = collectives});
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
  plan.cluster = mesh::local_cpu(8);
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
  return tensor::is_floating(shape.dtype) || tensor::is_complex(shape.dtype) ? 1e-5 : 0;
}

planner::Strategy whole_strategy(const compiler::Program& program, hlo::NodeId node) {
  const auto rank = [&](hlo::ValueId value) { return program.graph.values[static_cast<size_t>(value)].shape.rank(); };
  planner::Strategy strategy;
  for (const hlo::ValueId value : program.graph.nodes[static_cast<size_t>(node)].operands) {
    strategy.operands.push_back(ShardingSpec::replicated(rank(value)));
  }
  for (const hlo::ValueId value : program.graph.nodes[static_cast<size_t>(node)].results) {
    strategy.results.push_back(ShardingSpec::replicated(rank(value)));
  }
  return strategy;
}

std::vector<tensor::Literal> random_inputs(const compiler::Program& program, int64_t integer_bound) {
  std::mt19937 random(7);
  std::vector<tensor::Literal> inputs;
  for (const hlo::ValueId input : program.graph.inputs) {
    inputs.push_back(random_literal(program.graph.values[static_cast<size_t>(input)].shape, integer_bound, random));
  }
  return inputs;
}

}  // namespace alpa::property
