#include "alpa/compiler/compile.h"

#include <algorithm>
#include <chrono>

#include "alpa/base/error.h"
#include "alpa/compiler/check_plan.h"
#include "alpa/compiler/compile_accumulated.h"
#include "alpa/compiler/partition.h"
#include "alpa/cost/reshard_model.h"
#include "alpa/hlo/flops.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/passes/annotate.h"
#include "alpa/passes/as_replicas.h"
#include "alpa/passes/combine_collectives.h"
#include "alpa/passes/drop_dead_collectives.h"
#include "alpa/passes/explicit_bounds.h"
#include "alpa/passes/merge_all_reduces.h"
#include "alpa/passes/ordered_reductions.h"
#include "alpa/passes/reduce_scatter_forming.h"
#include "alpa/passes/sharding_constraints.h"
#include "alpa/pjrt/read_back.h"

namespace alpa::compiler {

namespace {

cost::CollectiveModel collectives_of(const plan::Plan& plan) {
  std::vector<hlo::Opcode> forbidden;
  for (const hlo::Opcode kind : {hlo::Opcode::kAllGather, hlo::Opcode::kAllToAll}) {
    const auto& names = plan.forbidden_collectives;
    if (std::find(names.begin(), names.end(), hlo::name(kind)) != names.end()) forbidden.push_back(kind);
  }
  return cost::CollectiveModel(plan.cluster, plan.mesh).without(std::move(forbidden));
}

}  // namespace

hlo::Module annotated_module(const Program& program, const plan::Plan& plan, const passes::PassObserver& observer) {
  const cost::CollectiveModel collectives = collectives_of(plan);
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

hlo::Module rewritten_module(const hlo::Module& partitioned, int64_t num_devices,
                             const passes::PassObserver& observer) {
  hlo::Module module = partitioned;
  const auto run = [&](std::string_view name, const auto& pass) {
    module = passes::run_pass(name, module, [&](const hlo::Module& old) { return pass(old, num_devices); }, observer);
  };
  run("drop_dead_collectives", passes::drop_dead_collectives);
  run("merge_all_reduces", passes::merge_all_reduces);
  run("reduce_scatter_forming", passes::reduce_scatter_forming);
  run("combine_collectives",
      [](const hlo::Module& old, int64_t devices) { return passes::combine_collectives(old, devices); });
  return passes::run_pass("as_replicas", module, passes::as_replicas, observer);
}

namespace {

/// An executable and the program that it runs on a device.
struct Built {
  pjrt::Executable executable;
  std::string module;
};

Built build(const Program& program, const plan::Plan& plan, const pjrt::Client& client,
            const pjrt::CompileOptions& options, const CompileRequest& request) {
  const hlo::Module annotated = annotated_module(program, plan, request.observer);
  if (request.collectives == Collectives::kPartitioner) {
    auto compiled = pjrt::compile_and_read_partitioned(client, hlo::write_module(annotated), options);
    return {std::move(compiled.executable), std::move(compiled.partitioned_module)};
  }
  const auto run = [&](const hlo::Module& module) { return partition(module, client, options); };
  const hlo::Module partitioned = passes::run_pass("partition", annotated, run, request.observer);
  std::string module = hlo::write_module(rewritten_module(partitioned, plan.mesh.num_devices(), request.observer));
  pjrt::CompileOptions replicas = options;
  std::swap(replicas.num_replicas, replicas.num_partitions);
  replicas.use_spmd_partitioning = false;
  pjrt::Executable executable = pjrt::Executable::compile(client, module, pjrt::Format::kHlo, replicas);
  return {std::move(executable), std::move(module)};
}

int64_t memory_per_device(const pjrt::Executable& executable) {
  const auto memory = executable.memory_stats();
  if (!memory) return 0;
  return memory->argument_bytes + memory->output_bytes - memory->alias_bytes + memory->temp_bytes;
}

pjrt::CompileOptions options_for(const pjrt::Client& client, int64_t devices) {
  pjrt::CompileOptions options;
  options.num_partitions = static_cast<int>(devices);
  options.use_spmd_partitioning = devices > 1;
  for (int64_t device = 0; device < devices; ++device)
    options.device_ids.push_back(client.devices()[static_cast<size_t>(device)].id());
  return options;
}

pjrt::Executable compile_alone(const Program& program, const pjrt::Client& client, const CompileRequest& request) {
  const auto bounds = [](const hlo::Module& module) { return passes::explicit_bounds(module, 1); };
  const hlo::Module bare = passes::run_pass("without_sharding_constraints", program.module,
                                            passes::without_sharding_constraints, request.observer);
  const hlo::Module bounded = passes::run_pass("explicit_bounds", bare, bounds, request.observer);
  return pjrt::Executable::compile(client, hlo::write_module(bounded), pjrt::Format::kHlo, options_for(client, 1));
}

}  // namespace

Compiled compile(const Program& program, const plan::Plan& plan, const pjrt::Client& client,
                 const CompileRequest& request) {
  const int64_t devices = plan.mesh.num_devices();
  check_plan(program, plan);
  if (program.accumulation) return compile_accumulated(program, plan, client, request);
  require<InvalidArgumentError>(devices <= static_cast<int64_t>(client.devices().size()), "compile",
                                "the plan's mesh {} needs {} devices, there are {}", plan.mesh.to_string(), devices,
                                client.devices().size());
  if (request.strategies == Strategies::kKnown && devices > 1) check_strategies(program, plan);
  const auto start = std::chrono::steady_clock::now();
  Built built = devices > 1 ? build(program, plan, client, options_for(client, devices), request)
                            : Built{compile_alone(program, client, request), {}};
  std::vector<std::optional<int>> feeds;
  for (const OutputMeta& output : program.meta.outputs) feeds.push_back(output.feeds_input);
  const int64_t memory = memory_per_device(built.executable);
  Compiled result{runtime::MeshExecutable(std::move(built.executable), plan, std::move(feeds)), {}, {}, {}, 0, 0, 0};
  result.memory_per_device_bytes = memory;
  result.contraction_flops = hlo::contraction_flops(program.module);
  if (devices > 1) {
    const hlo::Module module = hlo::read_module(built.module);
    result.found = hlo::collectives(module);
    result.sites = communication_sites(module, cost::CollectiveModel(plan.cluster, plan.mesh));
    result.partitioned_module = std::move(built.module);
    result.contraction_flops = hlo::contraction_flops(module) * devices;
  }
  result.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace alpa::compiler
