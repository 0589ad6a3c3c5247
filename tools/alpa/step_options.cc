#include "step_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "alpa/base/file.h"
#include "alpa/base/name_source.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/sharding/spec_pattern.h"
#include "command.h"
#include "isolated_reader.h"

namespace alpa::tool {
namespace {

constexpr int64_t kMaxDevices = 1 << 20;
constexpr double kLeastMemoryGb = 1e-9;  // a byte
constexpr double kMostMemoryGb = 1e9;

template <typename... Args>
void require_usage(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) throw UsageError(fmt::format(text, std::forward<Args>(args)...));
}

/// Devices of a cluster other than local-cpu are its hosts times its devices a host, if --hosts says how many.
std::optional<int64_t> devices_of_hosts(const StepOptions& options) {
  if (options.hosts == 0) return std::nullopt;
  const int64_t per_host = mesh::load_cluster(options.cluster).devices_per_host;
  const int64_t devices = options.hosts * per_host;
  require_usage(devices <= kMaxDevices, "--hosts {}: {} devices are more than 2^20", options.hosts, devices);
  require_usage(options.devices == 0 || options.devices == devices,
                "--devices {} is not the {} devices of {} hosts of {}: give one of the two", options.devices, devices,
                options.hosts, options.cluster);
  return devices;
}

void check_method(const StepOptions& options, compiler::Method method, int64_t devices) {
  if (method != compiler::Method::kNone) return;
  require_usage(devices == 1, "--method none runs on one device, but {} asks for {}: leave it out",
                options.mesh.empty() ? "--devices" : "--mesh", devices);
}

/// What is wrong with it whatever the program is, is an error of the command line.
std::vector<compiler::Constraint> read_constraints(const std::string& option, const std::vector<std::string>& texts,
                                                   const std::optional<mesh::LogicalMesh>& mesh) {
  std::vector<compiler::Constraint> constraints;
  for (const std::string& text : texts) {
    try {
      compiler::Constraint constraint = compiler::parse_constraint(text);
      sharding::parse_pattern(constraint.spec, mesh.value_or(mesh::LogicalMesh({1, 1, 1})), -1);
      constraint.option = option;
      constraints.push_back(std::move(constraint));
    } catch (const InvalidArgumentError& error) {
      throw UsageError(
          fmt::format("{} '{}'{}: {}", option, text, mesh ? " on mesh " + mesh->to_string() : "", error.what()));
    }
  }
  return constraints;
}

void add_placement_options(CLI::App& app, StepOptions& options) {
  app.add_option("--constraint", options.constraints,
                 "'GLOB=(None,y)': placement of the inputs whose names match (* is any text); None: a whole dim, an "
                 "axis, (x+y), or ? where the planner chooses; repeatable")
      ->allow_extra_args(false);
  app.add_option("--output-constraint", options.output_constraints, "The same for outputs; repeatable")
      ->allow_extra_args(false);
  app.add_option("--force-batch-axis", options.force_batch_axis, "Axis that the batch, and it alone, is spread over");
  app.add_flag("--prefer-reduce-scatter", options.prefer_reduce_scatter,
               "Divides the optimizer's state, so that gradients are reduce-scattered");
  app.add_flag("--no-all-gather", options.no_all_gather, "No plan that gathers an array");
  app.add_flag("--no-all-to-all", options.no_all_to_all, "No plan with an all-to-all");
  app.add_flag("--no-replicated-parameters", options.no_replicated_parameters,
               "Divides each parameter over an axis at least, where one divides it");
}

}  // namespace

void add_step_options(CLI::App& app, StepOptions& options) {
  app.add_option("STEP", options.step,
                 "The training step: HloModuleProto, HloProto, StableHLO text or portable artifact; plain or .xz")
      ->required();
  app.add_option("--meta", options.meta, "meta.json: names and roles of inputs and outputs, the batch dims");
  app.add_option("--method", options.method,
                 "none: one device; data: batch over all devices; zero2: that, the optimizer's state divided; zero3: "
                 "parameters too; shard: the planner chooses")
      ->default_str("shard");
  app.add_option("--mesh", options.mesh,
                 "Logical mesh A, AxB or AxBxC; axes x, y, z. Default: every factorization is tried");
  app.add_option("--memory-gb", options.memory_gb, "Most memory of a device, in 2^30 bytes. Default: the cluster's")
      ->check(number_within(kLeastMemoryGb, kMostMemoryGb));
  app.add_flag("--no-rematerialization", options.no_rematerialization,
               "Keep all values that the backward pass reads, also where memory is short; else it may make some anew");
  app.add_option("--gap", options.gap,
                 "Stop when (objective - bound) / objective is proved to be at most this; 0: the best plan there is")
      ->default_str("0.01")
      ->check(number_within(0, 1));
  add_placement_options(app, options);
  app.add_option("--cluster", options.cluster, "Ready description (`alpa devices --help` lists them) or a JSON file")
      ->default_str("local-cpu");
  app.add_option(
         "--micro-batches", options.micro_batches,
         "Parts that a batch is run in, gradients accumulated; STEP, with gradient markers, is that of one part")
      ->default_str("1")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--plugin", options.plugin,
                 "PJRT plug-in (.so). Default: ALPA_PJRT_PLUGIN, else the installed wheels");
  app.add_option("--dump-dir", options.dump_dir,
                 "Folder for the program as read and after each pass, seconds of the passes, plan.json");
}

std::vector<NamedFile> input_files(const StepOptions& options) {
  return {
      {"STEP", options.step}, {"--meta", options.meta}, {"--cluster", options.cluster}, {"--plugin", options.plugin}};
}

mesh::ClusterSpec cluster_for(const std::string& name_or_file, int64_t devices) {
  return name_or_file == "local-cpu" ? mesh::local_cpu(devices) : mesh::load_cluster(name_or_file);
}

compiler::PlanOptions planner_options(const StepOptions& options) {
  compiler::PlanOptions result;
  result.method = parse_option([&] { return compiler::parse_method(options.method); });
  if (!options.mesh.empty()) result.mesh = parse_option([&] { return mesh::LogicalMesh::parse(options.mesh); });
  result.constraints = read_constraints("--constraint", options.constraints, result.mesh);
  result.output_constraints = read_constraints("--output-constraint", options.output_constraints, result.mesh);
  if (!options.force_batch_axis.empty()) result.search.batch_axis = options.force_batch_axis;
  result.search.prefer_reduce_scatter = options.prefer_reduce_scatter;
  result.search.allow_all_gather = !options.no_all_gather;
  result.search.allow_all_to_all = !options.no_all_to_all;
  result.search.allow_replicated_parameters = !options.no_replicated_parameters;
  if (options.memory_gb) result.memory_cap_bytes = std::llround(*options.memory_gb * static_cast<double>(1 << 30));
  result.rematerialize = !options.no_rematerialization;
  result.relative_gap = options.gap;
  const std::optional<int64_t> of_hosts = devices_of_hosts(options);
  const bool none = result.method == compiler::Method::kNone;
  result.num_devices = options.devices > 0    ? options.devices
                       : none && !result.mesh ? 1
                       : of_hosts             ? *of_hosts
                       : result.mesh          ? result.mesh->num_devices()
                                              : 8;
  check_method(options, result.method, result.num_devices);
  require_usage(!result.mesh || result.mesh->num_devices() == result.num_devices,
                "--mesh {} has {} devices, but {} {}: use a mesh whose sizes multiply to that", options.mesh,
                result.mesh ? result.mesh->num_devices() : 0,
                options.devices > 0 ? "--devices says" : options.cluster + " has", result.num_devices);
  if (compiler::divides_the_batch(result.method) && !result.mesh) result.mesh = mesh::LogicalMesh({result.num_devices});
  result.cluster = cluster_for(options.cluster, result.num_devices);
  if (options.hosts > 0) {
    result.cluster.hosts = options.hosts;
    if (options.cluster == "local-cpu")
      result.cluster.devices_per_host = std::max<int64_t>(1, result.num_devices / options.hosts);
  }
  return result;
}

void note_unknown_loops(const compiler::Program& program, Progress& progress) {
  const int64_t count = program.graph.unknown_trip_counts;
  if (count == 0) return;
  progress.note(fmt::format("{} loop{} of unknown trip count: what {} communicates is counted once", count,
                            count == 1 ? "" : "s", count == 1 ? "it" : "each"));
}

compiler::Program load_step(const StepOptions& options, const passes::PassObserver& observer) {
  std::optional<compiler::Meta> meta;
  if (!options.meta.empty()) meta = compiler::parse_meta(read_file(options.meta), options.meta);
  return name_source(options.step, [&] {
    return compiler::load_program(read_file(options.step), options.step, meta, isolated_reader(options.plugin_option()),
                                  observer, options.micro_batches);
  });
}

hlo::Module load_module(const std::string& path, const std::optional<std::string>& plugin) {
  return name_source(
      path, [&] { return hlo::read_module(compiler::module_bytes(read_file(path), path, isolated_reader(plugin))); });
}

}  // namespace alpa::tool
