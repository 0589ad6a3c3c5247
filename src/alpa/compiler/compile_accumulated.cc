#include "alpa/compiler/compile_accumulated.h"

#include <algorithm>
#include <map>
#include <set>

#include "alpa/base/error.h"
#include "alpa/compiler/build.h"
#include "alpa/compiler/rematerialized.h"
#include "alpa/passes/defer_sums.h"
#include "alpa/passes/drop_dead_collectives.h"
#include "alpa/passes/hoist_loop_sums.h"
#include "alpa/passes/merge_all_reduces.h"
#include "alpa/passes/split_accumulation.h"

namespace alpa::compiler {
namespace {

// Of the whole program's instructions those that the part has.
plan::Plan plan_of_part(const plan::Plan& whole, const hlo::Module& module) {
  plan::Plan plan = whole;
  plan.micro_batches = 1;
  plan.inputs.clear();
  plan.outputs.clear();
  std::set<std::string_view> names;
  for (const hlo::Computation& computation : module.computations) {
    for (const hlo::Instruction& instruction : computation.instructions) names.insert(instruction.name);
  }
  for (auto* placed : {&plan.ops, &plan.operands})
    std::erase_if(*placed, [&](const auto& entry) { return !names.contains(entry.first); });
  return plan;
}

class PartMaker {
 public:
  PartMaker(const Program& program, const plan::Plan& plan) : program_(program), plan_(plan) {}

  PlannedPart accumulate(passes::StepPart part) const {
    const passes::Accumulation& layout = *program_.accumulation;
    PlannedPart result = begin(std::move(part));
    const hlo::Computation& entry = result.program.module.entry_computation();
    const auto parameters = hlo::parameters(entry);
    for (size_t k = result.step_inputs.size(); k < parameters.size(); ++k) add_input(entry[parameters[k]], result);
    const size_t first = result.step_inputs.size() + 1;
    const auto& outputs = entry[entry.root].operands;
    for (size_t k = 0; k < outputs.size(); ++k) {
      const bool sum = k < static_cast<size_t>(layout.num_accumulators);
      if (sum)
        result.plan.outputs.push_back(result.plan.inputs[first + k]);
      else
        result.plan.outputs.push_back(planned(entry[outputs[k]]));
      OutputMeta meta{entry[outputs[k]].name, Role::kUnknown, std::nullopt};
      if (sum) meta.feeds_input = static_cast<int>(first + k);
      result.program.meta.outputs.push_back(std::move(meta));
    }
    return result;
  }

  PlannedPart apply(passes::StepPart part) const {
    PlannedPart result = begin(std::move(part));
    const hlo::Computation& entry = result.program.module.entry_computation();
    const auto parameters = hlo::parameters(entry);
    for (size_t k = result.step_inputs.size(); k < parameters.size(); ++k) add_input(entry[parameters[k]], result);
    want_sums_as_planned(result);
    result.plan.outputs = plan_.outputs;
    result.program.meta.outputs = program_.meta.outputs;
    for (OutputMeta& output : result.program.meta.outputs) {
      if (!output.feeds_input) continue;
      const auto& inputs = result.step_inputs;
      const auto found = std::find(inputs.begin(), inputs.end(), *output.feeds_input);
      if (found == inputs.end())
        output.feeds_input.reset();
      else
        output.feeds_input = static_cast<int>(found - inputs.begin());
    }
    return result;
  }

 private:
  PlannedPart begin(passes::StepPart part) const {
    PlannedPart result;
    result.program.hash = program_.hash;
    result.program.module = std::move(part.module);
    result.program.graph = hlo::build_value_graph(result.program.module);
    result.plan = plan_of_part(plan_, result.program.module);
    result.step_inputs = std::move(part.step_inputs);
    for (const int input : result.step_inputs) {
      result.program.meta.inputs.push_back(program_.meta.inputs[static_cast<size_t>(input)]);
      result.plan.inputs.push_back(plan_.inputs[static_cast<size_t>(input)]);
    }
    return result;
  }

  // A sum is used where the plan puts it; it comes from where the accumulator lies, which may be elsewhere.
  void want_sums_as_planned(PlannedPart& part) const {
    const passes::Accumulation& layout = *program_.accumulation;
    const hlo::Computation& whole = program_.module.entry_computation();
    const std::vector<hlo::InstructionId> parameters = hlo::parameters(whole);
    const std::vector<hlo::InstructionId>& outputs = whole[whole.root].operands;
    std::map<std::string_view, std::string_view> sums;  // by accumulator
    for (int64_t k = 0; k < layout.num_accumulators; ++k) {
      const hlo::InstructionId accumulator = parameters[static_cast<size_t>(layout.accumulator(k))];
      sums[whole[accumulator].name] = whole[outputs[static_cast<size_t>(layout.accumulated(k))]].name;
    }
    const hlo::Computation& entry = part.program.module.entry_computation();
    for (const hlo::Instruction& user : entry.instructions) {
      if (user.operands.size() != 2) continue;  // the division by the number of micro-batches
      const auto sum = sums.find(entry[user.operands[0]].name);
      if (sum == sums.end() || plan_.operands.contains(user.name)) continue;
      const sharding::ShardingSpec& spec = planned_spec(std::string(sum->second));
      part.plan.operands[user.name] = {spec, spec};
    }
  }

  const sharding::ShardingSpec& planned_spec(const std::string& name) const {
    const auto found = plan_.ops.find(name);
    require<InvalidArgumentError>(found != plan_.ops.end() && found->second.size() == 1, "compile",
                                  "the plan says nothing of {}, which goes from micro-batch to micro-batch: plan again",
                                  name);
    return found->second[0];
  }

  // What is no input of the step lies where the plan puts the instruction of its name.
  plan::TensorPlan planned(const hlo::Instruction& instruction) const {
    return {instruction.name, instruction.shape, planned_spec(instruction.name)};
  }

  void add_input(const hlo::Instruction& parameter, PlannedPart& part) const {
    part.plan.inputs.push_back(planned(parameter));
    InputMeta meta;
    meta.name = parameter.name;
    meta.shape = parameter.shape;
    part.program.meta.inputs.push_back(std::move(meta));
  }

  const Program& program_;
  const plan::Plan& plan_;
};

// Bytes of a device that inputs of the step occupy while a part runs that does not take them: `times` of each.
int64_t bytes_beside(const plan::Plan& plan, const std::vector<int64_t>& times) {
  int64_t bytes = 0;
  for (size_t k = 0; k < plan.inputs.size(); ++k) {
    const plan::TensorPlan& input = plan.inputs[k];
    bytes += times[k] * tensor::byte_size(sharding::local_shape(input.shape, input.spec, plan.mesh));
  }
  return bytes;
}

// The more of the two parts, each with the inputs that lie beside it: all micro-batches are there all the time.
int64_t memory_of_step(const Program& program, const plan::Plan& plan, const PlannedParts& parts, int64_t accumulate,
                       int64_t apply) {
  std::vector<int64_t> beside;
  for (const InputMeta& input : program.meta.inputs) beside.push_back(input.batch_dim ? program.micro_batches() : 1);
  std::vector<int64_t> beside_apply = beside;
  for (const int input : parts.accumulate.step_inputs) --beside[static_cast<size_t>(input)];
  for (const int input : parts.apply.step_inputs) --beside_apply[static_cast<size_t>(input)];
  return std::max(accumulate + bytes_beside(plan, beside), apply + bytes_beside(plan, beside_apply));
}

void add_times(Built& part, double times, Compiled& step) {
  for (const auto& [kind, total] : part.found) {
    step.found[kind].count += times * total.count;
    step.found[kind].bytes += times * total.bytes;
  }
  for (CommunicationSite& site : part.sites) {
    site.executions *= times;
    site.bytes *= times;
    site.seconds *= times;
    step.sites.push_back(std::move(site));
  }
  step.contraction_flops += static_cast<int64_t>(times) * part.contraction_flops;
}

/// Both parts, and the accumulators' shapes on a device.
struct BuiltParts {
  Built accumulate;
  Built apply;
  std::vector<tensor::Shape> accumulators;
};

passes::DeferRequest defer_request(const Program& program, const plan::Plan& plan, const PlannedParts& parts) {
  passes::DeferRequest request;
  request.num_devices = plan.mesh.num_devices();
  request.micro_batches = program.micro_batches();
  request.accumulate_inputs = static_cast<int64_t>(parts.accumulate.step_inputs.size());
  request.apply_inputs = static_cast<int64_t>(parts.apply.step_inputs.size());
  const hlo::Computation& entry = program.module.entry_computation();
  const std::vector<hlo::InstructionId> parameters = hlo::parameters(entry);
  const passes::Accumulation& layout = *program.accumulation;
  for (int64_t k = 0; k < layout.num_accumulators; ++k) {
    const std::string& name = entry[parameters[static_cast<size_t>(layout.accumulator(k))]].name;
    request.deferred.push_back(std::find(plan.deferred_sums.begin(), plan.deferred_sums.end(), name) !=
                               plan.deferred_sums.end());
  }
  return request;
}

BuiltParts build_deferred(const Program& program, const plan::Plan& plan, const PlannedParts& parts,
                          const pjrt::Client& client, const CompileRequest& request) {
  const passes::DeferRequest how = defer_request(program, plan, parts);
  const auto run = [&](std::string_view name, const hlo::Module& module, const passes::Pass& pass) {
    return passes::run_pass(name, module, pass, request.observer);
  };
  hlo::Module accumulate = partitioned_program(parts.accumulate.program, parts.accumulate.plan, client, request);
  const hlo::Module apply = partitioned_program(parts.apply.program, parts.apply.plan, client, request);
  // What is one sum is to be one accumulator.
  accumulate = run("drop_dead_collectives", accumulate,
                   [&](const hlo::Module& old) { return passes::drop_dead_collectives(old, how.num_devices); });
  accumulate =
      run("hoist_loop_sums", accumulate, [&](const hlo::Module& old) { return passes::hoist_loop_sums(old, how); });
  accumulate = run("merge_all_reduces", accumulate,
                   [&](const hlo::Module& old) { return passes::merge_all_reduces(old, how.num_devices); });
  const passes::DeferredStep deferred = passes::defer_sums(accumulate, apply, how);
  const hlo::Module once_a_micro_batch =
      run("defer_sums", accumulate, [&](const hlo::Module&) { return deferred.accumulate; });
  const hlo::Module once_a_step = run("defer_sums", apply, [&](const hlo::Module&) { return deferred.apply; });
  BuiltParts built{build_partitioned(once_a_micro_batch, plan, client, request),
                   build_partitioned(once_a_step, plan, client, request),
                   {}};
  const hlo::Computation& entry = once_a_micro_batch.entry_computation();
  const std::vector<tensor::Shape>& outputs = entry[entry.root].shape.elements;
  built.accumulators.assign(outputs.begin(), outputs.begin() + deferred.num_accumulators);
  return built;
}

BuiltParts build_parts(const Program& program, const plan::Plan& plan, const PlannedParts& parts,
                       const pjrt::Client& client, const CompileRequest& request) {
  if (plan.mesh.num_devices() > 1 && request.collectives == Collectives::kRewritten)
    return build_deferred(program, plan, parts, client, request);
  BuiltParts built{build(parts.accumulate.program, parts.accumulate.plan, client, request),
                   build(parts.apply.program, parts.apply.plan, client, request),
                   {}};
  for (int64_t k = 0; k < program.accumulation->num_accumulators; ++k) {
    const plan::TensorPlan& whole = parts.accumulate.plan.outputs[static_cast<size_t>(k)];
    built.accumulators.push_back(sharding::local_shape(whole.shape, whole.spec, plan.mesh));
  }
  return built;
}

}  // namespace

PlannedParts planned_parts(const Program& program, const plan::Plan& plan) {
  const PlannedProgram whole = planned_program(program, plan);
  passes::SplitAccumulation split = passes::split_accumulation(whole.program.module, *program.accumulation);
  const PartMaker maker(whole.program, whole.plan);
  return {maker.accumulate(std::move(split.accumulate)), maker.apply(std::move(split.apply))};
}

Compiled compile_accumulated(const Program& program, const plan::Plan& plan, std::vector<std::optional<int>> feeds,
                             const pjrt::Client& client, const CompileRequest& request) {
  const PlannedParts parts = planned_parts(program, plan);
  BuiltParts built = build_parts(program, plan, parts, client, request);
  runtime::AccumulationWiring wiring;
  wiring.micro_batches = program.micro_batches();
  wiring.accumulate_inputs = parts.accumulate.step_inputs;
  wiring.apply_inputs = parts.apply.step_inputs;
  for (const InputMeta& input : program.meta.inputs) wiring.batch_dims.push_back(input.batch_dim);
  wiring.accumulators = std::move(built.accumulators);
  runtime::Accumulator accumulator(std::move(built.accumulate.executable), std::move(wiring), plan.mesh);
  Compiled result{
      runtime::MeshExecutable(std::move(built.apply.executable), plan, std::move(feeds), std::move(accumulator)),
      {},
      {},
      std::move(built.apply.module),
      0,
      0,
      0};
  add_times(built.accumulate, static_cast<double>(program.micro_batches()), result);
  add_times(built.apply, 1, result);
  result.memory_per_device_bytes = memory_of_step(program, plan, parts, built.accumulate.memory_per_device_bytes,
                                                  built.apply.memory_per_device_bytes);
  result.accumulate_module = std::move(built.accumulate.module);
  return result;
}

}  // namespace alpa::compiler
