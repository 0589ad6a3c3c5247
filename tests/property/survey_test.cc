// What stock XLA computes wrongly: every way to divide one dim of each operand and result eight ways, whether a rule
// emits it or not. Exactly the known faults (survey_faults.txt, docs/partitioner.md) show; so a plug-in that breaks
// something is seen here, and one that mends something too. A few operations by default; ALPA_FULL_MATRIX=1: all.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/hlo/proto_io.h"
#include "op_cases.h"
#include "op_harness.h"

namespace alpa::property {
namespace {

using sharding::ShardingSpec;

// "case:" and below it its faults, as this test prints them when they change.
constexpr const char* kKnownFaults = ALPA_SURVEY "/survey_faults.txt";

std::string known_faults(const std::string& name) {
  const std::string all = "\n" + read_file(kKnownFaults);
  const size_t head = all.find("\n" + name + ":\n");
  if (head == std::string::npos) return "";
  const size_t start = all.find('\n', head + 1) + 1;
  size_t end = start;
  while (end < all.size() && all[end] == ' ') end = all.find('\n', end) + 1;
  return all.substr(start, end - start);
}

const std::set<std::string> kDefault = {"dynamic_slice_column", "reduce_add", "reduce_add_from_three", "dot_outer",
                                        "transpose_2d"};

bool covered(const OpCase& one) {
  if (!full_matrix()) return kDefault.contains(one.name);
  // Grouped convolutions are partitioned by hand, as their rules say and in no other way.
  if (one.name.find("groups") != std::string::npos || one.name == "convolution_depthwise") return false;
  const auto& instructions = one.module.entry_computation().instructions;
  return instructions.size() > 3 || !hlo::is_elementwise(instructions.back().opcode);
}

// The combination of placements with this number, in a mixed-radix count over the choices of each operand and of the
// result.
planner::Strategy combination(size_t number, const std::vector<std::vector<ShardingSpec>>& choices,
                              planner::Strategy strategy) {
  for (size_t k = 0; k < choices.size(); ++k) {
    const ShardingSpec& spec = choices[k][number % choices[k].size()];
    number /= choices[k].size();
    (k < strategy.operands.size() ? strategy.operands[k] : strategy.results[0]) = spec;
  }
  for (ShardingSpec& result : strategy.results) {
    if (result.rank() == strategy.results[0].rank()) result = strategy.results[0];
  }
  return strategy;
}

class Survey : public testing::TestWithParam<OpCase> {};

TEST_P(Survey, OnlyTheKnownPlacementsAreComputedWrongly) {
  const OpCase& one = GetParam();
  const mesh::LogicalMesh mesh = mesh::LogicalMesh::parse("8");
  const compiler::Program program = compiler::load_program(hlo::write_module(one.module), one.name, std::nullopt, {});
  const auto target = static_cast<hlo::NodeId>(program.graph.nodes.size()) - 1;
  const hlo::Node& node = program.graph.nodes[static_cast<size_t>(target)];
  const auto inputs = random_inputs(program, one.integer_bound);
  std::vector<std::vector<ShardingSpec>> choices;
  size_t combinations = 1;
  std::vector<hlo::ValueId> values = node.operands;
  values.push_back(node.results[0]);
  for (const hlo::ValueId value : values) {
    choices.push_back(sharding::enumerate_specs(program.graph.values[static_cast<size_t>(value)].shape, mesh));
    combinations *= choices.back().size();
  }
  const planner::Strategy whole = whole_strategy(program, target);
  const Outcome single = run(program, plan_of(program, target, whole, mesh::LogicalMesh({1})), inputs, 0);
  std::string wrong;
  for (size_t number = 0; number < combinations; ++number) {
    const planner::Strategy strategy = combination(number, choices, whole);
    try {
      const Outcome outcome = run(program, plan_of(program, target, strategy, mesh), inputs, 0);
      for (size_t output = 0; output < outcome.outputs.size(); ++output) {
        const double error = difference(single.outputs[output], outcome.outputs[output]);
        if (error > 10 * tolerance(single.outputs[output].shape()))
          wrong += "  wrong: " + describe(strategy, mesh) + "\n";
      }
    } catch (const Error& error) {
      wrong += "  refused: " + describe(strategy, mesh) + ": " + error.what() + "\n";
    }
  }
  EXPECT_EQ(wrong, known_faults(one.name));
}

std::vector<OpCase> cases() {
  std::vector<OpCase> result;
  for (OpCase& one : op_cases()) {
    if (covered(one)) result.push_back(std::move(one));
  }
  return result;
}

// GoogleTest takes no "-" in names; opcodes have them.
std::string test_name(const testing::TestParamInfo<OpCase>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Survey, testing::ValuesIn(cases()), test_name);

}  // namespace
}  // namespace alpa::property
