#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alpa/compiler/plan_program.h"
#include "client_source.h"
#include "outputs.h"
#include "progress.h"

namespace alpa::tool {

/// Options that `run` and `plan` share: the step and how to plan it.
struct StepOptions {
  std::string step;
  std::string meta;
  std::string method = "shard";
  std::string mesh;
  int64_t devices = 0;              ///< 0: not given.
  std::optional<double> memory_gb;  ///< Units: 2^30 bytes.
  double gap = 0.01;
  std::vector<std::string> constraints;
  std::vector<std::string> output_constraints;
  std::string force_batch_axis;
  bool prefer_reduce_scatter = false;
  bool no_all_gather = false;
  bool no_all_to_all = false;
  bool no_replicated_parameters = false;
  bool no_rematerialization = false;
  std::string cluster = "local-cpu";
  int64_t hosts = 0;  ///< 0: not given.
  int64_t micro_batches = 1;
  std::string plugin;
  std::string dump_dir;

  std::optional<std::string> plugin_option() const { return plugin.empty() ? std::nullopt : std::optional(plugin); }
};

/// Adds them to a subcommand. `hosts` only for `plan`.
void add_step_options(CLI::App& app, StepOptions& options);

/// The options among them that say what a plan must be like: a stored plan takes none of them.
inline constexpr std::array<const char*, 10> kPlacementOptions = {
    "--constraint",    "--output-constraint",        "--force-batch-axis", "--prefer-reduce-scatter", "--no-all-gather",
    "--no-all-to-all", "--no-replicated-parameters", "--memory-gb",        "--no-rematerialization",  "--gap"};

/// The options as the planner wants them; the progress callback is left empty. Nothing is read but a cluster's file.
/// The device count is: 1 for method none, else --devices, else the mesh's product, else that of the hosts, else 8.
/// Errors: UsageError for texts that cannot be read and for a mesh that does not fit; InvalidArgumentError for a
/// cluster.
compiler::PlanOptions planner_options(const StepOptions& options);

/// The files that they name and that are read.
std::vector<NamedFile> input_files(const StepOptions& options);

/// The description of a cluster for `devices` devices; `local-cpu` is divided among them.
mesh::ClusterSpec cluster_for(const std::string& name_or_file, int64_t devices);

/// Reads the step and its meta.json. StableHLO is read by a plug-in in a process of its own. `observer` sees each pass.
/// Errors name the file.
compiler::Program load_step(const StepOptions& options, const passes::PassObserver& observer);

/// Says how many loops are counted once because their number of turns is unknown, if there are any.
void note_unknown_loops(const compiler::Program& program, Progress& progress);

/// The module that a file holds, as it is there. Errors name the file.
hlo::Module load_module(const std::string& path, const std::optional<std::string>& plugin);

}  // namespace alpa::tool
