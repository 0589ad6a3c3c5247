#include "alpa/compiler/build.h"

#include "alpa/base/error.h"
#include "alpa/compiler/check_plan.h"
#include "alpa/compiler/device_compiler.h"
#include "alpa/compiler/partition.h"
#include "alpa/hlo/flops.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/passes/explicit_bounds.h"
#include "alpa/passes/sharding_constraints.h"
#include "alpa/pjrt/read_back.h"

namespace alpa::compiler {
namespace {

int64_t memory_per_device(const pjrt::Executable& executable) {
  const auto memory = executable.memory_stats();
  if (!memory) return 0;
  return memory->argument_bytes + memory->output_bytes - memory->alias_bytes + memory->temp_bytes;
}

pjrt::CompileOptions options_for(const pjrt::Client& client, int64_t devices, const CompileRequest& request) {
  pjrt::CompileOptions options;
  if (request.keeps_barriers && client.is_cpu() && drops_barriers(client.plugin()))
    options.overrides["xla_disable_hlo_passes"] = std::string("cse_barrier_expander");
  options.num_partitions = static_cast<int>(devices);
  options.use_spmd_partitioning = devices > 1;
  for (int64_t device = 0; device < devices; ++device)
    options.device_ids.push_back(client.devices()[static_cast<size_t>(device)].id());
  return options;
}

void check_devices(const plan::Plan& plan, const pjrt::Client& client) {
  const int64_t devices = plan.mesh.num_devices();
  require<InvalidArgumentError>(devices <= static_cast<int64_t>(client.devices().size()), "compile",
                                "the plan's mesh {} needs {} devices, there are {}", plan.mesh.to_string(), devices,
                                client.devices().size());
}

hlo::Module annotated_and_checked(const Program& program, const plan::Plan& plan, const pjrt::Client& client,
                                  const CompileRequest& request) {
  check_devices(plan, client);
  if (request.strategies == Strategies::kKnown) check_strategies(program, plan);
  return annotated_module(program, plan, request.observer);
}

Built build_alone(const Program& program, const plan::Plan& plan, const pjrt::Client& client,
                  const CompileRequest& request) {
  check_devices(plan, client);
  const auto bounds = [](const hlo::Module& module) { return passes::explicit_bounds(module, 1); };
  const hlo::Module bare = passes::run_pass("without_sharding_constraints", program.module,
                                            passes::without_sharding_constraints, request.observer);
  const hlo::Module bounded = passes::run_pass("explicit_bounds", bare, bounds, request.observer);
  Built built{pjrt::Executable::compile(client, hlo::write_module(bounded), pjrt::Format::kHlo,
                                        options_for(client, 1, request)),
              {},
              {},
              {}};
  built.contraction_flops = hlo::contraction_flops(program.module);
  built.memory_per_device_bytes = memory_per_device(built.executable);
  return built;
}

Built counted(pjrt::Executable executable, std::string bytes, const plan::Plan& plan) {
  const hlo::Module module = hlo::read_module(bytes);
  Built built{std::move(executable), std::move(bytes), hlo::collectives(module),
              communication_sites(module, cost::CollectiveModel(plan.cluster, plan.mesh))};
  built.contraction_flops = hlo::contraction_flops(module) * plan.mesh.num_devices();
  built.memory_per_device_bytes = memory_per_device(built.executable);
  return built;
}

}  // namespace

hlo::Module partitioned_program(const Program& program, const plan::Plan& plan, const pjrt::Client& client,
                                const CompileRequest& request) {
  const hlo::Module annotated = annotated_and_checked(program, plan, client, request);
  const auto run = [&](const hlo::Module& module) {
    return partition(module, client, options_for(client, plan.mesh.num_devices(), request));
  };
  return passes::run_pass("partition", annotated, run, request.observer);
}

Built build_partitioned(const hlo::Module& partitioned, const plan::Plan& plan, const pjrt::Client& client,
                        const CompileRequest& request) {
  std::string module = hlo::write_module(rewritten_module(partitioned, plan.mesh.num_devices(), request.observer));
  pjrt::CompileOptions replicas = options_for(client, plan.mesh.num_devices(), request);
  std::swap(replicas.num_replicas, replicas.num_partitions);
  replicas.use_spmd_partitioning = false;
  pjrt::Executable executable = pjrt::Executable::compile(client, module, pjrt::Format::kHlo, replicas);
  return counted(std::move(executable), std::move(module), plan);
}

Built build(const Program& program, const plan::Plan& plan, const pjrt::Client& client, const CompileRequest& request) {
  if (plan.mesh.num_devices() == 1) return build_alone(program, plan, client, request);
  if (request.collectives == Collectives::kRewritten)
    return build_partitioned(partitioned_program(program, plan, client, request), plan, client, request);
  const hlo::Module annotated = annotated_and_checked(program, plan, client, request);
  auto compiled = pjrt::compile_and_read_partitioned(client, hlo::write_module(annotated),
                                                     options_for(client, plan.mesh.num_devices(), request));
  return counted(std::move(compiled.executable), std::move(compiled.partitioned_module), plan);
}

}  // namespace alpa::compiler
