#include "alpa/compiler/compile.h"

#include <algorithm>
#include <chrono>

#include "alpa/compiler/build.h"
#include "alpa/compiler/check_plan.h"
#include "alpa/compiler/compile_accumulated.h"
#include "alpa/compiler/rematerialized.h"
#include "alpa/cost/reshard_model.h"
#include "alpa/passes/annotate.h"
#include "alpa/passes/as_replicas.h"
#include "alpa/passes/combine_collectives.h"
#include "alpa/passes/drop_dead_collectives.h"
#include "alpa/passes/explicit_bounds.h"
#include "alpa/passes/hoist_loop_sums.h"
#include "alpa/passes/merge_all_gathers.h"
#include "alpa/passes/merge_all_reduces.h"
#include "alpa/passes/ordered_reductions.h"
#include "alpa/passes/reduce_scatter_forming.h"
#include "alpa/passes/sharding_constraints.h"

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

hlo::Module annotated_module(const Program& step, const plan::Plan& of_step, const passes::PassObserver& observer) {
  const PlannedProgram planned = planned_program(step, of_step, observer);
  const Program& program = planned.program;
  const plan::Plan& plan = planned.plan;
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
  run("hoist_loop_sums", [](const hlo::Module& old, int64_t devices) { return passes::hoist_loop_sums(old, devices); });
  run("merge_all_gathers", passes::merge_all_gathers);
  run("merge_all_reduces", passes::merge_all_reduces);
  run("reduce_scatter_forming", passes::reduce_scatter_forming);
  run("combine_collectives",
      [](const hlo::Module& old, int64_t devices) { return passes::combine_collectives(old, devices); });
  return passes::run_pass("as_replicas", module, passes::as_replicas, observer);
}

Compiled compile(const Program& step, const plan::Plan& of_step, const pjrt::Client& client,
                 const CompileRequest& asked) {
  CompileRequest request = asked;
  request.keeps_barriers = !of_step.rematerialized.empty();
  const PlannedProgram planned = planned_program(step, of_step, request.observer);
  const Program& program = planned.program;
  const plan::Plan& plan = planned.plan;
  check_plan(program, plan);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::optional<int>> feeds;
  for (const OutputMeta& output : program.meta.outputs) feeds.push_back(output.feeds_input);
  const auto compiled = [&] {
    if (program.accumulation) return compile_accumulated(program, plan, std::move(feeds), client, request);
    Built built = build(program, plan, client, request);
    return Compiled{runtime::MeshExecutable(std::move(built.executable), plan, std::move(feeds)),
                    std::move(built.found),
                    std::move(built.sites),
                    std::move(built.module),
                    built.contraction_flops,
                    built.memory_per_device_bytes,
                    0};
  };
  Compiled result = compiled();
  result.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace alpa::compiler
