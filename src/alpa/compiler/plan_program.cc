#include "alpa/compiler/plan_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "alpa/base/error.h"
#include "alpa/compiler/state_inputs.h"
#include "alpa/planner/intra/intra.h"
#include "alpa/planner/intra/predict.h"

namespace alpa::compiler {
namespace {

using sharding::ShardingSpec;

constexpr int64_t kEasyProofWork = 3'000'000'000;  // About a second or two.

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

// By input, which are divided as far as can be: the optimizer's state by zero2, the parameters too by zero3.
std::vector<char> divided_state(const Program& program, Method method) {
  if (method == Method::kData) return {};
  std::vector<char> divided = state_inputs(program);
  if (method == Method::kZero3) return divided;
  const std::vector<char> parameters = reaching_contractions(program);
  for (size_t k = 0; k < divided.size(); ++k) divided[k] = divided[k] && !parameters[k];
  return divided;
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

ShardingSpec constrained_spec(const Constraint& constraint, const InputMeta& input, const mesh::LogicalMesh& mesh) {
  try {
    ShardingSpec spec = sharding::parse_spec(constraint.spec, mesh, input.shape.rank());
    require<InvalidArgumentError>(sharding::divides(spec, input.shape, mesh), "sharding",
                                  "{} does not divide into {} parts evenly", tensor::to_string(input.shape),
                                  sharding::num_shards(spec, mesh));
    for (const sharding::Tile& tile : spec.dims) {
      const std::vector<int> axes = tile.axes();
      require<InvalidArgumentError>(std::is_sorted(axes.begin(), axes.end()), "sharding",
                                    "the axes of a dim come in the mesh's order: write (x+y), not (y+x)");
      for (const int axis : axes) {
        require<InvalidArgumentError>(mesh.size(axis) > 1, "sharding",
                                      "axis {} has size 1 and divides nothing: write None", "xyz"[axis]);
      }
    }
    return spec;
  } catch (const InvalidArgumentError& error) {
    raise<InvalidArgumentError>("plan", "--constraint '{}={}' does not fit input {} on mesh {}: {}", constraint.pattern,
                                constraint.spec, input.name, mesh.to_string(), error.what());
  }
}

std::string text_of(const Constraint& constraint) {
  return "--constraint '" + constraint.pattern + "=" + constraint.spec + "'";
}

void check_constraints(const PlanOptions& options) {
  for (const Constraint& constraint : options.constraints) {
    require<InvalidArgumentError>(
        options.method != Method::kNone || constraint.spec.find_first_of("xyz") == std::string::npos, "plan",
        "{} divides inputs, --method none runs on one device: leave one of them away", text_of(constraint));
  }
}

std::vector<std::optional<ShardingSpec>> constraint_pins(const Meta& meta, const PlanOptions& options,
                                                         const mesh::LogicalMesh& mesh) {
  std::vector<std::optional<ShardingSpec>> pins(meta.inputs.size());
  std::vector<const Constraint*> pinned_by(meta.inputs.size());
  for (const Constraint& constraint : options.constraints) {
    bool matched = false;
    for (size_t k = 0; k < meta.inputs.size(); ++k) {
      if (!glob_match(constraint.pattern, meta.inputs[k].name)) continue;
      matched = true;
      ShardingSpec spec = constrained_spec(constraint, meta.inputs[k], mesh);
      require<InvalidArgumentError>(
          !pins[k] || *pins[k] == spec, "plan", "{} and {} contradict each other on input {}: give it one of them",
          pinned_by[k] ? text_of(*pinned_by[k]) : "", text_of(constraint), meta.inputs[k].name);
      pins[k] = std::move(spec);
      pinned_by[k] = &constraint;
    }
    require<InvalidArgumentError>(matched, "plan", "{} matches no input", text_of(constraint));
  }
  return pins;
}

// What the copies of changes of placement occupy is known only when all is chosen: the next try leaves room for the
// most that was seen and a little more, since other copies may come up, or, where nothing fits then, half of that.
planner::Assignment assign_within_cap(planner::IntraRequest request, const mesh::LogicalMesh& mesh, plan::Plan& plan) {
  constexpr double kRoom = 1.3;  // Of the copies; grows by as much with each try.
  constexpr int kTries = 7;
  const int64_t cap = request.memory_cap_bytes.value_or(std::numeric_limits<int64_t>::max());
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t copies = 0;
  int64_t fitting = cap;  // The lowest cap under which there is an assignment,
  int64_t refused = 0;    // and the highest under which none was found.
  double room = 1;
  for (int tried = 0; tried < kTries; ++tried) {
    try {
      planner::Assignment assignment = planner::plan_intra(request);
      plan = {};
      plan.mesh = mesh;
      planner::fill_plan(request, assignment, plan);
      const int64_t needed = plan.predicted_memory_per_device_bytes;
      if (needed <= cap) return assignment;
      least = std::min(least, needed);
      copies = std::max(copies, needed - assignment.memory_bytes);
      fitting = *request.memory_cap_bytes;
    } catch (const InfeasibleError&) {
      if (tried == 0) throw;
      refused = *request.memory_cap_bytes;
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
  throw InfeasibleError(
      fmt::format("[plan] no plan was found that fits into {} bytes a device on the mesh {}: the least memory of those "
                  "tried is {} bytes; raise --memory-gb or use more devices",
                  cap, mesh.to_string(), least),
      least, /*proved=*/false);
}

/// A plan and the problem that it answers, if that is to be observed.
struct MeshPlan {
  plan::Plan plan;
  std::optional<solver::Problem> problem;
};

MeshPlan plan_on_mesh(const Program& program, const PlanOptions& options, const mesh::LogicalMesh& mesh) {
  const cost::CollectiveModel collectives(options.cluster, mesh);
  auto pins = constraint_pins(program.meta, options, mesh);
  const auto data_parallel = data_parallel_inputs(program.meta, mesh);
  std::vector<char> divided_most;
  if (divides_the_batch(options.method)) {
    require_batch(program.meta, options.method);
    if (!data_parallel) raise_batch_does_not_divide(program, options.method, mesh);
    divided_most = divided_state(program, options.method);
    for (size_t k = 0; k < pins.size(); ++k) {
      if (pins[k] && !divided_most.empty()) divided_most[k] = false;
      if (!pins[k] && (divided_most.empty() || !divided_most[k])) pins[k] = (*data_parallel)[k];
    }
  }
  solver::Options solver;
  solver.relative_gap = options.relative_gap;
  solver.time_limit_seconds = 120;
  solver.easy_proof_work = kEasyProofWork;
  const int64_t memory =
      options.memory_cap_bytes.value_or(static_cast<int64_t>(options.cluster.device.memory_bytes));
  planner::IntraRequest request{
      .module = program.module,
      .graph = program.graph,
      .collectives = collectives,
      .pinned_inputs = std::move(pins),
      .feeds = feeds_of(program),
      .input_copies = copies_of_inputs(program),
      .memory_cap_bytes = memory,
      .device_memory_bytes = memory,
      .search = search_of(options.method),
      .divided_most = std::move(divided_most),
      .start_inputs = {},
      .solver = solver,
      .keep_problem = static_cast<bool>(options.problem_observer)};
  if (data_parallel && (options.constraints.empty() || divides_the_batch(options.method)))
    request.start_inputs = *data_parallel;
  plan::Plan plan;
  planner::Assignment assignment = assign_within_cap(request, mesh, plan);
  for (size_t k = 0; k < program.meta.inputs.size(); ++k) {
    plan.inputs.push_back({program.meta.inputs[k].name, program.meta.inputs[k].shape,
                           assignment.spec(program.graph, program.graph.inputs[k])});
  }
  for (size_t k = 0; k < program.meta.outputs.size(); ++k) {
    const hlo::ValueId value = program.graph.outputs[k];
    const tensor::Shape& shape = program.graph.values[static_cast<size_t>(value)].shape;
    const auto feeds = program.meta.outputs[k].feeds_input;
    ShardingSpec spec = ShardingSpec::replicated(shape.rank());
    if (feeds) {
      spec = plan.inputs[static_cast<size_t>(*feeds)].spec;
    } else if (!assignment.is_generator(program.graph.values[static_cast<size_t>(value)].producer)) {
      spec = assignment.spec(program.graph, value);
    }
    plan.outputs.push_back({program.meta.outputs[k].name, shape, std::move(spec)});
  }
  return {std::move(plan), std::move(assignment.problem)};
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

Constraint parse_constraint(std::string_view text) {
  const size_t cut = text.rfind('=');
  require<InvalidArgumentError>(cut != std::string_view::npos && cut > 0, "plan",
                                "\"{}\" has no pattern and placement: write GLOB=(None,y)", text);
  return {std::string(text.substr(0, cut)), std::string(text.substr(cut + 1))};
}

bool glob_match(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

namespace {

// Which of two meshes' failures says more: one that knows of a plan with more memory, then the one that needs less.
bool says_more(const InfeasibleError& one, const InfeasibleError& other) {
  const int64_t least = one.least_memory_bytes();
  return least >= 0 && (other.least_memory_bytes() < 0 || least < other.least_memory_bytes());
}

}  // namespace

plan::Plan plan_program(const Program& program, const PlanOptions& options) {
  check_constraints(options);
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  std::vector<mesh::LogicalMesh> meshes;
  if (options.method == Method::kNone) {
    meshes.push_back(mesh::LogicalMesh({1}));
  } else if (options.mesh) {
    meshes.push_back(*options.mesh);
  } else {
    meshes = mesh::factorizations(options.num_devices);
  }
  std::optional<MeshPlan> best;
  double bound = std::numeric_limits<double>::infinity();  // no plan on any of the meshes costs less
  std::optional<InfeasibleError> infeasible;
  std::optional<InvalidArgumentError> misfit;  // a constraint that names an axis which this mesh lacks, for instance
  for (const mesh::LogicalMesh& mesh : meshes) {
    if (options.progress) options.progress("planning on mesh " + mesh.to_string(), elapsed());
    try {
      MeshPlan found = plan_on_mesh(program, options, mesh);
      bound = std::min(bound, found.plan.bound_seconds);
      if (!best || found.plan.objective_seconds < best->plan.objective_seconds) best = std::move(found);
    } catch (const InfeasibleError& error) {
      if (!infeasible || says_more(error, *infeasible)) infeasible = error;
      if (!error.proved()) bound = 0;
    } catch (const InvalidArgumentError& error) {
      misfit = error;
    }
  }
  if (!best && infeasible) throw *infeasible;
  if (!best) throw *misfit;
  plan::Plan& plan = best->plan;
  plan.bound_seconds = bound;
  plan.program_hash = program.hash;
  plan.cluster = options.cluster;
  plan.method = name(options.method);
  plan.micro_batches = program.micro_batches();
  plan.planning_seconds = elapsed();
  if (best->problem) options.problem_observer(*best->problem);
  return std::move(plan);
}

}  // namespace alpa::compiler
