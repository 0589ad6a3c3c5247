#include "alpa/compiler/plan_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "alpa/base/amount.h"
#include "alpa/base/error.h"
#include "alpa/compiler/least_budget.h"
#include "alpa/compiler/placement_demands.h"
#include "alpa/compiler/recompute_search.h"
#include "alpa/compiler/state_inputs.h"
#include "alpa/planner/intra/intra.h"
#include "alpa/planner/intra/output_placements.h"
#include "alpa/planner/intra/predict.h"

namespace alpa::compiler {
namespace {

using sharding::ShardingSpec;

std::vector<planner::Feed> feeds_of(const Program& program) {
  std::vector<planner::Feed> feeds;
  const Meta& meta = program.meta;
  for (size_t k = 0; k < meta.outputs.size(); ++k) {
    if (meta.outputs[k].feeds_input) feeds.push_back({static_cast<int>(k), *meta.outputs[k].feeds_input});
  }
  if (!program.accumulation) return feeds;
  const passes::Accumulation& layout = *program.accumulation;
  for (int64_t k = 0; k < layout.num_accumulators; ++k) {
    feeds.push_back({static_cast<int>(layout.accumulated(k)), static_cast<int>(layout.accumulator(k)),
                     static_cast<double>(layout.micro_batches), /*accumulates=*/true});
  }
  return feeds;
}

std::optional<planner::MicroBatches> micro_batches_of(const Program& program) {
  if (!program.accumulation) return std::nullopt;
  const passes::Accumulation& layout = *program.accumulation;
  return planner::MicroBatches{static_cast<double>(layout.micro_batches), static_cast<size_t>(layout.num_inputs),
                               static_cast<size_t>(layout.num_outputs), static_cast<size_t>(layout.num_accumulators)};
}

// The batches of all parts lie on the devices together.
std::vector<int64_t> copies_of_inputs(const Program& program) {
  std::vector<int64_t> copies;
  for (const InputMeta& input : program.meta.inputs) copies.push_back(input.batch_dim ? program.micro_batches() : 1);
  return copies;
}

// Batch inputs over all axes, the others whole: data parallelism. Empty if the batch does not divide.
std::optional<std::vector<std::optional<ShardingSpec>>> data_parallel_inputs(const Meta& meta,
                                                                             const mesh::LogicalMesh& mesh) {
  std::vector<std::optional<ShardingSpec>> specs;
  for (const InputMeta& input : meta.inputs) {
    ShardingSpec spec = ShardingSpec::replicated(input.shape.rank());
    for (int axis = 0; input.batch_dim && axis < mesh.num_axes(); ++axis) {
      if (mesh.size(axis) > 1) spec.dims[static_cast<size_t>(*input.batch_dim)].push_back(axis);
    }
    if (!sharding::divides(spec, input.shape, mesh)) return std::nullopt;
    specs.push_back(std::move(spec));
  }
  return specs;
}

planner::Search search_of(Method method) {
  if (method == Method::kShard) return planner::Search::kOptimize;
  return method == Method::kZero2 || method == Method::kZero3 ? planner::Search::kDivideUpdates
                                                              : planner::Search::kPropagate;
}

void require_batch(const Meta& meta, Method method) {
  const bool known = std::any_of(meta.inputs.begin(), meta.inputs.end(),
                                 [](const InputMeta& input) { return input.batch_dim.has_value(); });
  require<InvalidArgumentError>(known, "plan",
                                "method {} divides the batch, and no input is known to be one: give --meta with "
                                "\"role\": \"batch\" and \"batch_dim\", or use --method shard",
                                name(method));
}

// The optimizer's state, whatever the search; by zero3 all state.
std::vector<char> divided_state(const Program& program, bool parameters_too) {
  std::vector<char> divided = state_inputs(program);
  if (parameters_too) return divided;
  const std::vector<char> parameters = reaching_contractions(program);
  for (size_t k = 0; k < divided.size(); ++k) divided[k] = divided[k] && !parameters[k];
  return divided;
}

// What a step computes with: inputs of that role; where roles are not known, all that are no batch.
std::vector<char> parameter_inputs(const Meta& meta) {
  const bool known = std::any_of(meta.inputs.begin(), meta.inputs.end(),
                                 [](const InputMeta& input) { return input.role == Role::kParams; });
  std::vector<char> parameters;
  for (const InputMeta& input : meta.inputs)
    parameters.push_back(known ? input.role == Role::kParams : !input.batch_dim.has_value());
  return parameters;
}

// By input, how far it must be divided. What a constraint places lies as that says.
std::vector<planner::Division> divisions_of(const Program& program, const PlanOptions& options,
                                            const PlacementDemands& demands) {
  std::vector<planner::Division> divisions(program.meta.inputs.size(), planner::Division::kFree);
  const auto divide = [&](const std::vector<char>& which, planner::Division division) {
    for (size_t k = 0; k < divisions.size(); ++k) {
      if (which[k] && !demands.inputs[k]) divisions[k] = division;
    }
  };
  const bool zero = options.method == Method::kZero2 || options.method == Method::kZero3;
  if (!options.search.allow_replicated_parameters) divide(parameter_inputs(program.meta), planner::Division::kSome);
  if (zero || options.search.prefer_reduce_scatter)
    divide(divided_state(program, options.method == Method::kZero3), planner::Division::kMost);
  return divisions;
}

[[noreturn]] void raise_batch_does_not_divide(const Program& program, Method method, const mesh::LogicalMesh& mesh) {
  for (const InputMeta& input : program.meta.inputs) {
    if (!input.batch_dim) continue;
    const int64_t batch = input.shape.dims[static_cast<size_t>(*input.batch_dim)];
    if (batch > 0 && batch % mesh.num_devices() == 0) continue;
    const std::string part =
        program.accumulation ? fmt::format("one of {} micro-batches", program.micro_batches()) : "the batch";
    raise<InvalidArgumentError>("plan",
                                "method {}: {} of input {} is {}, no multiple of {} devices; use method shard{} or "
                                "fewer devices",
                                name(method), part, input.name, batch, mesh.num_devices(),
                                program.accumulation ? ", fewer micro-batches" : "");
  }
  raise<InternalError>("plan", "the batch divides and does not divide");
}

// What the copies of changes of placement occupy is known only when all is chosen: the next try leaves room for the
// most that was seen and a little more, since other copies may come up, or, where nothing fits then, half of that.
planner::Assignment assign_within_cap(planner::IntraRequest request, const mesh::LogicalMesh& mesh, plan::Plan& plan) {
  constexpr double kRoom = 1.3;  // Of the copies; grows by as much with each try.
  constexpr int kTries = 7;
  const int64_t cap = request.memory_cap_bytes.value_or(std::numeric_limits<int64_t>::max());
  const auto assign = [&] {
    planner::Assignment assignment = planner::plan_intra(request);
    plan = {};
    plan.mesh = mesh;
    planner::fill_plan(request, assignment, plan);
    return assignment;
  };
  if (request.search != planner::Search::kOptimize) {
    // Little is chosen here, and the problem's count of memory may be above what is predicted: it need not be asked.
    const std::optional<int64_t> asked = std::exchange(request.memory_cap_bytes, std::nullopt);
    planner::Assignment assignment = assign();
    if (plan.predicted_memory_per_device_bytes <= cap) return assignment;
    request.memory_cap_bytes = asked;
  }
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t copies = 0;
  int64_t fitting = cap;  // The lowest cap under which there is an assignment,
  int64_t refused = 0;    // and the highest under which none was found.
  double room = 1;
  for (int tried = 0; tried < kTries; ++tried) {
    try {
      planner::Assignment assignment = assign();
      const int64_t needed = plan.predicted_memory_per_device_bytes;
      if (needed <= cap) return assignment;
      least = std::min(least, needed);
      copies = std::max(copies, needed - assignment.memory_bytes);
      fitting = *request.memory_cap_bytes;
    } catch (const InfeasibleError& error) {
      refused = *request.memory_cap_bytes;
      if (tried == 0) {
        if (error.least_memory_bytes() < 0 || request.search == planner::Search::kOptimize) throw;
        // By the problem's count, which may be above what is predicted: what needs least by it may fit.
        refused = error.least_memory_bytes() - 1;
        request.memory_cap_bytes = error.least_memory_bytes();
        continue;
      }
    }
    if (request.search == planner::Search::kPropagate) break;
    room *= kRoom;
    const double wanted = static_cast<double>(cap) - room * static_cast<double>(copies);
    const int64_t between = refused + (fitting - refused) / 2;
    if (between == refused) break;
    request.memory_cap_bytes = wanted > static_cast<double>(refused) && wanted < static_cast<double>(fitting)
                                   ? static_cast<int64_t>(wanted)
                                   : between;
  }
  throw InfeasibleError(fmt::format("[plan] no plan was found that fits into {} a device on the mesh {}: the least "
                                    "memory of those tried is {}",
                                    amount_of_memory(cap), mesh.to_string(), amount_of_memory(least)),
                        least, /*proved=*/false);
}

int64_t memory_cap(const PlanOptions& options) {
  return options.memory_cap_bytes.value_or(static_cast<int64_t>(options.cluster.device.memory_bytes));
}

std::vector<hlo::Opcode> forbidden_collectives(const SearchSpace& search) {
  std::vector<hlo::Opcode> kinds;
  if (!search.allow_all_gather) kinds.push_back(hlo::Opcode::kAllGather);
  if (!search.allow_all_to_all) kinds.push_back(hlo::Opcode::kAllToAll);
  return kinds;
}

// Gives the inputs the placements that are asked for; by methods that divide the batch, all that are not free.
void place_inputs(const Program& program, const PlanOptions& options, const PlacementDemands& demands,
                  const std::vector<std::optional<ShardingSpec>>* data_parallel, planner::IntraRequest& request) {
  request.pinned_inputs.resize(program.meta.inputs.size());
  for (size_t k = 0; k < program.meta.inputs.size(); ++k) {
    std::optional<ShardingSpec>& pin = request.pinned_inputs[k];
    const std::optional<sharding::SpecPattern>& asked = demands.inputs[k];
    if (divides_the_batch(options.method) && request.divisions[k] == planner::Division::kFree)
      pin = (*data_parallel)[k];
    if (!asked) continue;
    if (!pin || !asked->matches(*pin)) pin = asked->exact();
    if (pin) continue;
    const hlo::ValueId value = program.graph.inputs[k];
    request.pins.push_back({program.graph.values[static_cast<size_t>(value)].producer, *asked});
  }
}

// Contractions that are not divided as far as can be are the last resort: where what is asked allows nothing else.
planner::Assignment assign(planner::IntraRequest request, const mesh::LogicalMesh& mesh, plan::Plan& plan) {
  try {
    return assign_within_cap(request, mesh, plan);
  } catch (const InfeasibleError& error) {
    if (error.least_memory_bytes() >= 0) throw;
  }
  request.whole_contractions = true;
  return assign_within_cap(request, mesh, plan);
}

solver::Options solver_options(const PlanOptions& options) {
  solver::Options solver;
  solver.relative_gap = options.relative_gap;
  solver.time_limit_seconds = options.time_limit_seconds;
  solver.easy_proof_work = options.proof_work;
  return solver;
}

MeshPlan plan_on_mesh(const Program& program, const PlanOptions& options, const mesh::LogicalMesh& mesh,
                      int64_t cap_bytes) {
  const std::vector<hlo::Opcode> forbidden = forbidden_collectives(options.search);
  const cost::CollectiveModel collectives = cost::CollectiveModel(options.cluster, mesh).without(forbidden);
  const PlacementDemands demands = placement_demands(program, options, mesh);
  const auto data_parallel = data_parallel_inputs(program.meta, mesh);
  if (divides_the_batch(options.method)) {
    require_batch(program.meta, options.method);
    if (!data_parallel) raise_batch_does_not_divide(program, options.method, mesh);
  }
  planner::IntraRequest request{.module = program.module,
                                .graph = program.graph,
                                .collectives = collectives,
                                .pinned_inputs = {},
                                .feeds = feeds_of(program),
                                .pins = demands.values,
                                .pinned_outputs = demands.outputs,
                                .micro_batches = micro_batches_of(program),
                                .input_copies = copies_of_inputs(program),
                                .memory_cap_bytes = cap_bytes,
                                .device_memory_bytes = memory_cap(options),
                                .search = search_of(options.method),
                                .divisions = divisions_of(program, options, demands),
                                .start_inputs = {},
                                .solver = solver_options(options),
                                .compiler = options.compiler,
                                .keep_problem = static_cast<bool>(options.problem_observer)};
  place_inputs(program, options, demands, data_parallel ? &*data_parallel : nullptr, request);
  if (data_parallel) request.start_inputs = *data_parallel;
  plan::Plan plan;
  planner::Assignment assignment = assign(request, mesh, plan);
  for (size_t k = 0; k < program.meta.inputs.size(); ++k) {
    plan.inputs.push_back({program.meta.inputs[k].name, program.meta.inputs[k].shape,
                           assignment.spec(program.graph, program.graph.inputs[k])});
  }
  cost::ReshardModel reshard(collectives);
  const std::vector<ShardingSpec> outputs = planner::output_placements(request, assignment, reshard);
  for (size_t k = 0; k < program.meta.outputs.size(); ++k) {
    const hlo::Value& value = program.graph.values[static_cast<size_t>(program.graph.outputs[k])];
    plan.outputs.push_back({program.meta.outputs[k].name, value.shape, outputs[k]});
  }
  for (const hlo::Opcode kind : forbidden) plan.forbidden_collectives.emplace_back(hlo::name(kind));
  return {std::move(plan), std::move(assignment.answered)};
}

MeshPlan plan_within_cap(const Program& program, const PlanOptions& options, const mesh::LogicalMesh& mesh) {
  const PlanWithin plan = [&](const Program& one, int64_t cap_bytes) {
    return plan_on_mesh(one, options, mesh, cap_bytes);
  };
  if (!options.rematerialize) return plan(program, memory_cap(options));
  return plan_recomputing({program, options.cluster.device, mesh.num_devices(), memory_cap(options), plan});
}

}  // namespace

Method parse_method(std::string_view text) {
  if (text == "none") return Method::kNone;
  if (text == "data") return Method::kData;
  if (text == "shard") return Method::kShard;
  if (text == "zero2") return Method::kZero2;
  if (text == "zero3") return Method::kZero3;
  raise<InvalidArgumentError>("plan", "unknown method \"{}\": use none, data, shard, zero2 or zero3", text);
}

std::string_view name(Method method) {
  switch (method) {
    case Method::kNone: return "none";
    case Method::kData: return "data";
    case Method::kShard: return "shard";
    case Method::kZero2: return "zero2";
    case Method::kZero3: return "zero3";
  }
  return "";
}

bool divides_the_batch(Method method) {
  return method == Method::kData || method == Method::kZero2 || method == Method::kZero3;
}

namespace {

// Which of two meshes' failures says more: one that knows of a plan with more memory, then the one that needs less.
bool says_more(const InfeasibleError& one, const InfeasibleError& other) {
  const int64_t least = one.least_memory_bytes();
  return least >= 0 && (other.least_memory_bytes() < 0 || least < other.least_memory_bytes());
}

std::vector<mesh::LogicalMesh> meshes_of(const PlanOptions& options) {
  if (options.method == Method::kNone) return {mesh::LogicalMesh({1})};
  std::vector<mesh::LogicalMesh> meshes = mesh::factorizations(options.num_devices);
  if (options.mesh) meshes = {*options.mesh};
  if (options.axis_names.empty()) return meshes;
  const auto axes = static_cast<int>(options.axis_names.size());
  std::erase_if(meshes, [&](const mesh::LogicalMesh& mesh) { return mesh.num_axes() != axes; });
  require<InvalidArgumentError>(
      !meshes.empty(), "plan", "mesh_axis_names are {} ({}), and {}: give as many names as axes", axes,
      fmt::join(options.axis_names, ", "),
      options.mesh ? "mesh " + options.mesh->to_string() + " has not as many axes"
                   : fmt::format("no mesh of {} devices has as many axes", options.num_devices));
  return meshes;
}

// The options that leave the planner no choice, for who is told that there is none.
std::string what_is_asked(const PlanOptions& options) {
  std::vector<std::string> asked;
  if (!options.search.allow_all_gather) asked.emplace_back("allow_all_gather = false (--no-all-gather)");
  if (!options.search.allow_all_to_all) asked.emplace_back("allow_all_to_all = false (--no-all-to-all)");
  if (!options.search.allow_replicated_parameters)
    asked.emplace_back("allow_replicated_parameters = false (--no-replicated-parameters)");
  if (options.search.prefer_reduce_scatter) asked.emplace_back("prefer_reduce_scatter (--prefer-reduce-scatter)");
  if (options.search.batch_axis)
    asked.push_back("force_batch_dim_to_mesh_dim = " + *options.search.batch_axis + " (--force-batch-axis)");
  for (const auto* constraints : {&options.constraints, &options.output_constraints}) {
    for (const Constraint& constraint : *constraints) asked.push_back(constraint.to_string());
  }
  return fmt::format("{}", fmt::join(asked, ", "));
}

// What no mesh can do, and the one that says most of it.
struct Refusal {
  InfeasibleError error;
  mesh::LogicalMesh mesh;
};

[[noreturn]] void raise_too_little_memory(const Program& program, PlanOptions options, const Refusal& refusal) {
  const int64_t cap = memory_cap(options);
  options.problem_observer = {};
  const auto plan = [&](int64_t budget_bytes) {
    options.memory_cap_bytes = budget_bytes;
    plan_within_cap(program, options, refusal.mesh);
  };
  const int64_t guess = std::max(refusal.error.least_memory_bytes(), cap + 1);
  const LeastBudget least = least_budget(plan, cap, guess);
  const std::string remedy =
      least.found
          ? fmt::format("the least memory that a plan was found for is {}; raise --memory-gb to {} or use more devices",
                        amount_of_memory(least.bytes), gib_at_least(least.bytes))
          : fmt::format("none for {} either; raise --memory-gb or use more devices", amount_of_memory(least.bytes));
  throw InfeasibleError(fmt::format("[plan] no plan was found that fits into {} a device on the mesh {}: {}",
                                    amount_of_memory(cap), refusal.mesh.to_string(), remedy),
                        least.bytes, refusal.error.proved());
}

[[noreturn]] void raise_infeasible(const Program& program, const PlanOptions& options, const Refusal& refusal) {
  const InfeasibleError& error = refusal.error;
  if (error.least_memory_bytes() >= 0) raise_too_little_memory(program, options, refusal);
  const std::string asked = what_is_asked(options);
  if (asked.empty()) throw error;
  throw InfeasibleError(fmt::format("{}; by method {} asked is {}", error.what(), name(options.method), asked),
                        error.least_memory_bytes(), error.proved());
}

}  // namespace

plan::Plan plan_program(const Program& program, const PlanOptions& asked) {
  check_constraints(asked);
  PlanOptions options = asked;
  if (options.method == Method::kData && options.search.prefer_reduce_scatter) options.method = Method::kZero2;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  const std::vector<mesh::LogicalMesh> meshes = meshes_of(options);
  std::optional<MeshPlan> best;
  double bound = std::numeric_limits<double>::infinity();  // no plan on any of the meshes costs less
  std::optional<Refusal> refusal;
  std::optional<InvalidArgumentError> misfit;  // a constraint that names an axis which this mesh lacks, for instance
  for (const mesh::LogicalMesh& mesh : meshes) {
    if (options.progress) options.progress("planning on mesh " + mesh.to_string(), elapsed());
    try {
      MeshPlan found = plan_within_cap(program, options, mesh);
      bound = std::min(bound, found.plan.bound_seconds);
      if (!best || found.plan.objective_seconds < best->plan.objective_seconds) best = std::move(found);
    } catch (const InfeasibleError& error) {
      if (!refusal || says_more(error, refusal->error)) refusal.emplace(error, mesh);
      if (!error.proved()) bound = 0;
    } catch (const InvalidArgumentError& error) {
      misfit = error;
    }
  }
  if (!best && refusal) {
    if (options.progress) options.progress("looking for the least memory that would do", elapsed());
    raise_infeasible(program, options, *refusal);
  }
  if (!best) throw *misfit;
  plan::Plan& plan = best->plan;
  plan.bound_seconds = bound;
  plan.program_hash = program.hash;
  plan.cluster = options.cluster;
  plan.method = name(options.method);
  plan.micro_batches = program.micro_batches();
  plan.planning_seconds = elapsed();
  if (best->answered) options.problem_observer(*best->answered);
  return std::move(plan);
}

}  // namespace alpa::compiler
