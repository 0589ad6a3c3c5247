#include "alpa/compiler/compile.h"

#include <chrono>
#include <numeric>

#include "alpa/base/error.h"
#include "alpa/cost/reshard_model.h"
#include "alpa/hlo/flops.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/passes/annotate.h"
#include "alpa/passes/explicit_bounds.h"
#include "alpa/passes/ordered_reductions.h"
#include "alpa/pjrt/read_back.h"

namespace alpa::compiler {
namespace {

// A plan that was changed by hand may say one thing of an input and another of the instruction that reads it; what runs
// would then be wrong without an error.
void check_tensors(const Program& program, const plan::Plan& plan) {
  const hlo::Computation& entry = program.module.entry_computation();
  const auto parameters = hlo::parameters(entry);
  for (size_t k = 0; k < plan.inputs.size(); ++k) {
    const plan::TensorPlan& input = plan.inputs[k];
    require<InvalidArgumentError>(input.shape == entry[parameters[k]].shape, "compile",
                                  "input {} is {} in the plan, {} in the program: plan "
                                  "again",
                                  input.name, tensor::to_string(input.shape),
                                  tensor::to_string(entry[parameters[k]].shape));
    require<InvalidArgumentError>(sharding::divides(input.spec, input.shape, plan.mesh), "compile",
                                  "the plan's placement {} of input {} "
                                  "does not divide {} evenly: plan again",
                                  sharding::to_string(input.spec, plan.mesh), input.name,
                                  tensor::to_string(input.shape));
    const auto op = plan.ops.find(entry[parameters[k]].name);
    require<InvalidArgumentError>(
        op == plan.ops.end() || (op->second.size() == 1 && op->second[0] == input.spec), "compile",
        "the plan places input {} in two ways, in \"inputs\" and in \"ops\": plan again", input.name);
  }
  for (size_t k = 0; k < plan.outputs.size(); ++k) {
    const plan::TensorPlan& output = plan.outputs[k];
    const tensor::Shape& shape = program.graph.values[static_cast<size_t>(program.graph.outputs[k])].shape;
    const auto feeds = program.meta.outputs[k].feeds_input;
    require<InvalidArgumentError>(output.shape == shape && sharding::divides(output.spec, shape, plan.mesh), "compile",
                                  "the plan's output {} "
                                  "is not the program's, or its placement does not divide it: plan again",
                                  output.name);
    require<InvalidArgumentError>(!feeds || output.spec == plan.inputs[static_cast<size_t>(*feeds)].spec, "compile",
                                  "the plan places output "
                                  "{} otherwise than the input that it feeds: plan again",
                                  output.name);
  }
}

void check_plan(const Program& program, const plan::Plan& plan, const pjrt::Client& client) {
  require<InvalidArgumentError>(plan.program_hash == program.hash, "compile",
                                "the plan was made for program {}, this one is {}: plan again", plan.program_hash,
                                program.hash);
  require<InvalidArgumentError>(plan.mesh.num_devices() <= static_cast<int64_t>(client.devices().size()), "compile",
                                "the plan's mesh {} needs {} devices, there are {}", plan.mesh.to_string(),
                                plan.mesh.num_devices(), client.devices().size());
  require<InvalidArgumentError>(
      plan.inputs.size() == program.meta.inputs.size() && plan.outputs.size() == program.graph.outputs.size(),
      "compile", "the plan has other inputs or outputs than the program: plan again");
  check_tensors(program, plan);
}

}  // namespace

hlo::Module annotated_module(const Program& program, const plan::Plan& plan, const mesh::ClusterSpec& cluster) {
  const cost::CollectiveModel collectives(cluster, plan.mesh);
  cost::ReshardModel reshard(collectives);
  const hlo::Module annotated = passes::annotate(program.module, program.graph, plan, reshard);
  return passes::ordered_reductions(passes::explicit_bounds(annotated, plan.mesh.num_devices()));
}

Compiled compile(const Program& program, const plan::Plan& plan, const mesh::ClusterSpec& cluster,
                 const pjrt::Client& client) {
  check_plan(program, plan, client);
  const auto start = std::chrono::steady_clock::now();
  const int64_t devices = plan.mesh.num_devices();
  pjrt::CompileOptions options;
  options.num_partitions = static_cast<int>(devices);
  options.use_spmd_partitioning = devices > 1;
  for (int64_t device = 0; device < devices; ++device)
    options.device_ids.push_back(client.devices()[static_cast<size_t>(device)].id());
  std::vector<std::optional<int>> feeds;
  for (const OutputMeta& output : program.meta.outputs) feeds.push_back(output.feeds_input);

  if (devices == 1) {
    pjrt::Executable executable = pjrt::Executable::compile(
        client, hlo::write_module(passes::explicit_bounds(program.module, 1)), pjrt::Format::kHlo, options);
    const auto memory = executable.memory_stats();
    Compiled result{runtime::MeshExecutable(std::move(executable), plan, std::move(feeds)), {}, {}, {}, 0, 0, 0};
    result.contraction_flops = hlo::contraction_flops(program.module);
    if (memory)
      result.memory_per_device_bytes =
          memory->argument_bytes + memory->output_bytes - memory->alias_bytes + memory->temp_bytes;
    result.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  }
  const std::string annotated = hlo::write_module(annotated_module(program, plan, cluster));
  pjrt::PartitionedCompile compiled = pjrt::compile_and_read_partitioned(client, annotated, options);
  const hlo::Module partitioned = hlo::read_module(compiled.partitioned_module);
  const auto memory = compiled.executable.memory_stats();
  Compiled result{runtime::MeshExecutable(std::move(compiled.executable), plan, std::move(feeds)), {}, {}, {}, 0, 0, 0};
  result.found = hlo::collectives(partitioned);
  result.sites = communication_sites(partitioned, cost::CollectiveModel(cluster, plan.mesh));
  result.partitioned_module = std::move(compiled.partitioned_module);
  result.contraction_flops = hlo::contraction_flops(partitioned) * devices;
  if (memory)
    result.memory_per_device_bytes =
        memory->argument_bytes + memory->output_bytes - memory->alias_bytes + memory->temp_bytes;
  result.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace alpa::compiler
