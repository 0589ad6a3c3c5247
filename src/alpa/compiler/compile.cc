#include "alpa/compiler/compile.h"

#include <chrono>

#include "alpa/base/error.h"
#include "alpa/compiler/check_plan.h"
#include "alpa/compiler/compile_accumulated.h"
#include "alpa/cost/reshard_model.h"
#include "alpa/hlo/flops.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/passes/annotate.h"
#include "alpa/passes/explicit_bounds.h"
#include "alpa/passes/ordered_reductions.h"
#include "alpa/pjrt/read_back.h"

namespace alpa::compiler {

hlo::Module annotated_module(const Program& program, const plan::Plan& plan, const passes::PassObserver& observer) {
  const cost::CollectiveModel collectives(plan.cluster, plan.mesh);
  cost::ReshardModel reshard(collectives);
  const auto annotate = [&](const hlo::Module& module) {
    return passes::annotate(module, program.graph, plan, reshard);
  };
  const auto bounds = [&](const hlo::Module& module) {
    return passes::explicit_bounds(module, plan.mesh.num_devices());
  };
  const hlo::Module annotated = passes::run_pass("annotate", program.module, annotate, observer);
  const hlo::Module bounded = passes::run_pass("explicit_bounds", annotated, bounds, observer);
  return passes::run_pass("ordered_reductions", bounded, passes::ordered_reductions, observer);
}

Compiled compile(const Program& program, const plan::Plan& plan, const pjrt::Client& client,
                 const passes::PassObserver& observer, Strategies strategies) {
  check_plan(program, plan);
  if (program.accumulation) return compile_accumulated(program, plan, client, observer, strategies);
  require<InvalidArgumentError>(plan.mesh.num_devices() <= static_cast<int64_t>(client.devices().size()), "compile",
                                "the plan's mesh {} needs {} devices, there are {}", plan.mesh.to_string(),
                                plan.mesh.num_devices(), client.devices().size());
  if (strategies == Strategies::kKnown && plan.mesh.num_devices() > 1) check_strategies(program, plan);
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
    const auto bounds = [](const hlo::Module& module) { return passes::explicit_bounds(module, 1); };
    const hlo::Module bounded = passes::run_pass("explicit_bounds", program.module, bounds, observer);
    pjrt::Executable executable =
        pjrt::Executable::compile(client, hlo::write_module(bounded), pjrt::Format::kHlo, options);
    const auto memory = executable.memory_stats();
    Compiled result{runtime::MeshExecutable(std::move(executable), plan, std::move(feeds)), {}, {}, {}, 0, 0, 0};
    result.contraction_flops = hlo::contraction_flops(program.module);
    if (memory)
      result.memory_per_device_bytes =
          memory->argument_bytes + memory->output_bytes - memory->alias_bytes + memory->temp_bytes;
    result.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  }
  const std::string annotated = hlo::write_module(annotated_module(program, plan, observer));
  pjrt::PartitionedCompile compiled = pjrt::compile_and_read_partitioned(client, annotated, options);
  const hlo::Module partitioned = hlo::read_module(compiled.partitioned_module);
  const auto memory = compiled.executable.memory_stats();
  Compiled result{runtime::MeshExecutable(std::move(compiled.executable), plan, std::move(feeds)), {}, {}, {}, 0, 0, 0};
  result.found = hlo::collectives(partitioned);
  result.sites = communication_sites(partitioned, cost::CollectiveModel(plan.cluster, plan.mesh));
  result.partitioned_module = std::move(compiled.partitioned_module);
  result.contraction_flops = hlo::contraction_flops(partitioned) * devices;
  if (memory)
    result.memory_per_device_bytes =
        memory->argument_bytes + memory->output_bytes - memory->alias_bytes + memory->temp_bytes;
  result.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace alpa::compiler
