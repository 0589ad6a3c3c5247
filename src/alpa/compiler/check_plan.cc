#include "alpa/compiler/check_plan.h"

#include <map>
#include <set>

#include "alpa/base/error.h"
#include "alpa/passes/placements.h"
#include "alpa/planner/intra/rule_book.h"
#include "alpa/planner/intra/strategy.h"

namespace alpa::compiler {
namespace {

using sharding::ShardingSpec;

constexpr const char* kPlace = "compile";

// A plan that was changed by hand may say one thing of an input and another of the instruction that reads it; what runs
// would then be wrong without an error.
void check_tensors(const Program& program, const plan::Plan& plan) {
  const hlo::Computation& entry = program.module.entry_computation();
  const auto parameters = hlo::parameters(entry);
  for (size_t k = 0; k < plan.inputs.size(); ++k) {
    const plan::TensorPlan& input = plan.inputs[k];
    require<InvalidArgumentError>(input.shape == entry[parameters[k]].shape, kPlace,
                                  "input {} is {} in the plan, {} in the program: plan "
                                  "again",
                                  input.name, tensor::to_string(input.shape),
                                  tensor::to_string(entry[parameters[k]].shape));
    require<InvalidArgumentError>(sharding::divides(input.spec, input.shape, plan.mesh), kPlace,
                                  "the plan's placement {} of input {} "
                                  "does not divide {} evenly: plan again",
                                  sharding::to_string(input.spec, plan.mesh), input.name,
                                  tensor::to_string(input.shape));
    const auto op = plan.ops.find(entry[parameters[k]].name);
    require<InvalidArgumentError>(
        op == plan.ops.end() || (op->second.size() == 1 && op->second[0] == input.spec), kPlace,
        "the plan places input {} in two ways, in \"inputs\" and in \"ops\": plan again", input.name);
  }
  for (size_t k = 0; k < plan.outputs.size(); ++k) {
    const plan::TensorPlan& output = plan.outputs[k];
    const tensor::Shape& shape = program.graph.values[static_cast<size_t>(program.graph.outputs[k])].shape;
    const auto feeds = program.meta.outputs[k].feeds_input;
    require<InvalidArgumentError>(output.shape == shape && sharding::divides(output.spec, shape, plan.mesh), kPlace,
                                  "the plan's output {} "
                                  "is not the program's, or its placement does not divide it: plan again",
                                  output.name);
    require<InvalidArgumentError>(!feeds || output.spec == plan.inputs[static_cast<size_t>(*feeds)].spec, kPlace,
                                  "the plan places output "
                                  "{} otherwise than the input that it feeds: plan again",
                                  output.name);
  }
}

void check_names(const Program& program, const plan::Plan& plan) {
  std::set<std::string_view> names;
  for (const hlo::Computation& computation : program.module.computations) {
    for (const hlo::Instruction& instruction : computation.instructions) names.insert(instruction.name);
  }
  for (const auto* placed : {&plan.ops, &plan.operands}) {
    for (const auto& [name, specs] : *placed) {
      require<InvalidArgumentError>(names.contains(name), kPlace,
                                    "the plan places {}, no instruction of the program: plan again", name);
    }
  }
}

void check_deferred_sums(const Program& program, const plan::Plan& plan) {
  std::set<std::string_view> accumulators;
  const hlo::Computation& entry = program.module.entry_computation();
  const auto parameters = hlo::parameters(entry);
  for (int64_t k = 0; program.accumulation && k < program.accumulation->num_accumulators; ++k)
    accumulators.insert(entry[parameters[static_cast<size_t>(program.accumulation->accumulator(k))]].name);
  for (const std::string& name : plan.deferred_sums) {
    require<InvalidArgumentError>(accumulators.contains(name), kPlace,
                                  "the plan defers {}, no sum over micro-batches of the program: plan again", name);
  }
}

// Placements of the operands and results of an operation.
using Way = std::pair<std::vector<ShardingSpec>, std::vector<ShardingSpec>>;

class StrategyCheck {
 public:
  StrategyCheck(const Program& program, const plan::Plan& plan)
      : program_(program),
        plan_(plan),
        placements_(program.module, program.graph, plan),
        rules_(program.module, program.graph) {}

  void run() {
    for (hlo::NodeId id = 0; id < static_cast<hlo::NodeId>(program_.graph.nodes.size()); ++id) {
      const hlo::Node& node = program_.graph.nodes[static_cast<size_t>(id)];
      if (node.kind == hlo::Node::Kind::kOperation && !hlo::is_generator(program_.module, program_.graph, id))
        check(id);
    }
  }

 private:
  void check(hlo::NodeId id) {
    const hlo::Node& node = program_.graph.nodes[static_cast<size_t>(id)];
    const planner::RuleRequest request = rules_.request(id);
    if (request.instruction.opcode == hlo::Opcode::kOptimizationBarrier) return;  // its operands lie as its results do
    Way way;
    for (const hlo::ValueId result : node.results) way.second.push_back(placements_.spec(result));
    way.first =
        placements_.operands(request.instruction, node.operands, way.second.empty() ? ShardingSpec() : way.second[0]);
    require<InvalidArgumentError>(ways_of(id).contains(way), kPlace,
                                  "the plan divides instruction {} ({}) as {}: that is no way known to be computed "
                                  "rightly; plan again",
                                  request.instruction.name, hlo::name(request.instruction.opcode), text(way));
  }

  const std::set<Way>& ways_of(hlo::NodeId id) {
    const planner::RuleBook::Entry& entry = rules_.entry(id);
    const auto [known, added] = ways_.try_emplace(entry.id);
    if (!added) return known->second;
    for (planner::Strategy& strategy : planner::enumerate_strategies(rules_.request(id), entry.rule, plan_.mesh)) {
      known->second.emplace(std::move(strategy.operands), std::move(strategy.results));
    }
    return known->second;
  }

  std::string text(const Way& way) const {
    std::string result;
    for (const ShardingSpec& spec : way.first) result += sharding::to_string(spec, plan_.mesh) + " ";
    result += "->";
    for (const ShardingSpec& spec : way.second) result += " " + sharding::to_string(spec, plan_.mesh);
    return result;
  }

  const Program& program_;
  const plan::Plan& plan_;
  const passes::Placements placements_;
  const planner::RuleBook rules_;
  std::map<int32_t, std::set<Way>> ways_;  ///< By entry of the rule book: what an operation looks like.
};

}  // namespace

void check_plan(const Program& program, const plan::Plan& plan) {
  require<InvalidArgumentError>(plan.program_hash == program.hash, kPlace,
                                "the plan was made for program {}, this one is {}: plan again", plan.program_hash,
                                program.hash);
  require<InvalidArgumentError>(
      plan.inputs.size() == program.meta.inputs.size() && plan.outputs.size() == program.meta.outputs.size(), kPlace,
      "the plan has other inputs or outputs than the program: plan again");
  require<InvalidArgumentError>(plan.micro_batches == program.micro_batches(), kPlace,
                                "the plan was made for {} micro-batches, the program is to run {}: plan again",
                                plan.micro_batches, program.micro_batches());
  check_names(program, plan);
  check_deferred_sums(program, plan);
  check_tensors(program, plan);
}

void check_strategies(const Program& program, const plan::Plan& plan) { StrategyCheck(program, plan).run(); }

}  // namespace alpa::compiler
