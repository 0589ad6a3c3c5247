#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "alpa/base/file.h"
#include "alpa/base/output_file.h"
#include "alpa/compiler/compile.h"
#include "alpa/compiler/device_compiler.h"
#include "alpa/hlo/flops.h"
#include "alpa/passes/split_accumulation.h"
#include "alpa/plan/checksum.h"
#include "alpa/tensor/safetensors.h"
#include "command.h"
#include "dump.h"
#include "format.h"
#include "inputs.h"
#include "outputs.h"
#include "plot.h"
#include "progress.h"
#include "report.h"
#include "result_json.h"
#include "step_options.h"

namespace alpa::tool {
namespace {

constexpr int64_t kMaxRunDevices = 1024;

struct RunOptions {
  StepOptions step;
  std::string inputs;
  std::string save;
  std::string out;
  std::string plan;
  std::string compare;
  int64_t steps = 1;
  bool plot = false;
  bool method_given = false;
  bool devices_given = false;
  bool cluster_given = false;
  bool micro_batches_given = false;
};

constexpr const char* kExamples =
    "Examples:\n"
    "  alpa run step.hlo.pb --meta meta.json --inputs inputs.safetensors --steps 3 --out result.json\n"
    "  alpa run step.mlir.xz --mesh 2x4 --constraint 'params.*kernel=(None,y)'\n"
    "  alpa run step.hlo.pb --plan plan.json --save after.safetensors\n"
    "\n"
    "Without --inputs the first step gets made-up values. All steps get the same batch; the state feeds itself.";

/// True if --cluster describes what the plan was made for, apart from the number of hosts.
bool same_devices(const RunOptions& options, const plan::Plan& plan) {
  mesh::ClusterSpec given = cluster_for(options.step.cluster, plan.mesh.num_devices());
  given.hosts = plan.cluster.hosts;
  return mesh::to_json(given) == mesh::to_json(plan.cluster);
}

/// What the user wants of the plan's mesh, method and devices must be what it has.
void check_stored_plan(const RunOptions& options, const compiler::Program& program, const plan::Plan& plan) {
  require<InvalidArgumentError>(plan.program_hash == program.hash, "plan",
                                "{} was made for program {}, {} is {}: plan it again", options.plan, plan.program_hash,
                                options.step.step, program.hash);
  const std::string mesh =
      options.step.mesh.empty() ? plan.mesh.to_string() : mesh::LogicalMesh::parse(options.step.mesh).to_string();
  require<InvalidArgumentError>(mesh == plan.mesh.to_string(), "plan",
                                "{} is for mesh {}, --mesh says {}: leave --mesh out or plan again", options.plan,
                                plan.mesh.to_string(), mesh);
  const int64_t devices = options.devices_given ? options.step.devices : plan.mesh.num_devices();
  require<InvalidArgumentError>(devices == plan.mesh.num_devices(), "plan",
                                "{} is for {} devices, --devices says {}: leave --devices "
                                "out or plan again",
                                options.plan, plan.mesh.num_devices(), devices);
  require<InvalidArgumentError>(!options.method_given || options.step.method == plan.method, "plan",
                                "{} was made by method {}, --method "
                                "says {}: leave --method out or plan again",
                                options.plan, plan.method, options.step.method);
  require<InvalidArgumentError>(!options.cluster_given || same_devices(options, plan), "plan",
                                "{} was made for a cluster {} that is not the one of --cluster {}: leave --cluster out "
                                "or plan again",
                                options.plan, plan.cluster.name, options.step.cluster);
  require<InvalidArgumentError>(plan.micro_batches == options.step.micro_batches, "plan",
                                "{} is for {} micro-batches, --micro-batches says {}: leave --micro-batches out or "
                                "plan again",
                                options.plan, plan.micro_batches, options.step.micro_batches);
}

/// Runs all steps and reads the loss after each.
RunResult run_steps(runtime::MeshExecutable& executable, const compiler::Meta& meta, int64_t steps,
                    Progress& progress) {
  std::optional<int> loss_output;
  for (size_t k = 0; k < meta.outputs.size(); ++k) {
    if (meta.outputs[k].role == compiler::Role::kLoss && !loss_output) loss_output = static_cast<int>(k);
  }
  if (!loss_output)
    progress.note("the program has no output of role loss: no losses are reported; --meta can name one");
  RunResult result;
  for (int64_t step = 0; step < steps; ++step) {
    const auto start = std::chrono::steady_clock::now();
    executable.step();
    executable.sync();
    result.step_seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    if (loss_output) result.losses.push_back(executable.output(*loss_output).at(0));
    progress.step(step + 1, steps, result.step_seconds.back(),
                  loss_output ? std::optional(result.losses.back()) : std::nullopt);
  }
  for (size_t step = 0; step < result.losses.size(); ++step) {
    if (std::isfinite(result.losses[step])) continue;
    progress.note(
        fmt::format("warning: the loss of step {} is {}; in --out it is null", step + 1, result.losses[step]));
    break;
  }
  return result;
}

/// Name of an output in --save: that of the input it feeds.
std::string saved_name(const compiler::Meta& meta, size_t output) {
  const compiler::OutputMeta& one = meta.outputs[output];
  if (one.feeds_input) return meta.inputs[static_cast<size_t>(*one.feeds_input)].name;
  return one.role == compiler::Role::kLoss ? "loss" : one.name;
}

/// Before the run: names must differ and the format must know the element types.
void check_savable(const compiler::Program& program) {
  std::map<std::string, tensor::Literal> empty;
  for (size_t k = 0; k < program.meta.outputs.size(); ++k) {
    const tensor::Shape& shape = program.graph.values[static_cast<size_t>(program.graph.outputs[k])].shape;
    const std::string name = saved_name(program.meta, k);
    require<InvalidArgumentError>(empty.emplace(name, tensor::Literal(tensor::Shape(shape.dtype, {0}))).second, "save",
                                  "two outputs are named {}: name them apart in --meta", name);
  }
  tensor::write_safetensors(empty);
}

std::string saved_outputs(const runtime::MeshExecutable& executable, const compiler::Meta& meta) {
  std::map<std::string, tensor::Literal> outputs;
  for (size_t k = 0; k < meta.outputs.size(); ++k)
    outputs.emplace(saved_name(meta, k), executable.output(static_cast<int>(k)));
  return tensor::write_safetensors(outputs);
}

std::string comparison(const RunResult& mine, const RunResult& other, const std::string& mine_name,
                       const std::string& other_name) {
  double worst = 0;
  const size_t steps = std::min(mine.losses.size(), other.losses.size());
  for (size_t step = 0; step < steps; ++step) {
    const double scale = std::max(std::abs(other.losses[step]), 1e-30);
    worst = std::max(worst, std::abs(mine.losses[step] - other.losses[step]) / scale);
  }
  Table table({{"run"}, {"step time, median", true}, {"first loss", true}, {"last loss", true}});
  for (const auto& [name, run] : {std::pair(mine_name, &mine), std::pair(other_name, &other)}) {
    table.add({name, format_seconds(median(run->step_seconds)),
               run->losses.empty() ? "-" : format_loss(run->losses.front()),
               run->losses.empty() ? "-" : format_loss(run->losses.back())});
  }
  return table.text() +
         fmt::format("  largest difference of the losses over {} steps: {:.2e} (relative)\n", steps, worst);
}

/// Of a step on one device.
int64_t contraction_flops(const compiler::Program& program) {
  if (!program.accumulation) return hlo::contraction_flops(program.module);
  const passes::SplitAccumulation parts = passes::split_accumulation(program.module, *program.accumulation);
  return program.micro_batches() * hlo::contraction_flops(parts.accumulate.module) +
         hlo::contraction_flops(parts.apply.module);
}

std::string run_report(const RunOptions& options, const compiler::Program& program, const plan::Plan& plan,
                       const compiler::Compiled& compiled, const RunResult& result) {
  std::string text = plan_head(plan) + "\n" + placement_tables(plan, program.meta);
  text += communication_table(plan, &compiled.found) + "\n";
  if (!compiled.sites.empty()) text += sites_table(compiled.sites) + "\n";
  const auto flops = static_cast<double>(contraction_flops(program));
  text += fmt::format("Memory of a device: {} measured, {} predicted\n",
                      format_bytes(static_cast<double>(compiled.memory_per_device_bytes)),
                      format_bytes(static_cast<double>(plan.predicted_memory_per_device_bytes)));
  text += fmt::format("Dots and convolutions: {} over all devices, {:.3f} x those of one device\n",
                      format_flops(static_cast<double>(compiled.contraction_flops)),
                      flops > 0 ? static_cast<double>(compiled.contraction_flops) / flops : 1.0);
  text += fmt::format("Planned in {}, compiled in {}\n\n", format_seconds(plan.planning_seconds),
                      format_seconds(compiled.compile_seconds));
  text += step_table(result);
  text += fmt::format("  step time: median {} of {} steps\n", format_seconds(median(result.step_seconds)),
                      result.step_seconds.size());
  const std::string name = fmt::format("{} on {}", plan.method, plan.mesh.to_string());
  std::vector<Curve> curves{{name, result.losses}};
  if (!options.compare.empty()) {
    const RunResult other = result_from_json(read_file(options.compare), options.compare);
    const std::string other_name = std::filesystem::path(options.compare).stem().string();
    curves.push_back({other_name, other.losses});
    text += "\nBeside " + options.compare + "\n" + comparison(result, other, name, other_name);
  }
  if (options.plot) text += "\nLoss\n" + plot(curves);
  return text;
}

plan::Plan make_plan(const RunOptions& options, const compiler::Program& program, compiler::PlanOptions planner,
                     Progress& progress) {
  planner.progress = [&](const std::string& what, double seconds) {
    progress.show(fmt::format("{}, {:.1f} s", what, seconds));
  };
  if (options.plan.empty()) return compiler::plan_program(program, planner);
  plan::Plan plan = plan::plan_from_json(read_file(options.plan), options.plan);
  check_stored_plan(options, program, plan);
  return plan;
}

/// Options that are wrong whatever the program is.
void check_options(const RunOptions& options, const compiler::PlanOptions& planner) {
  if (planner.num_devices > kMaxRunDevices) {
    throw UsageError(fmt::format("{} devices: one process runs at most {}; `alpa plan` plans for more",
                                 planner.num_devices, kMaxRunDevices));
  }
  std::vector<NamedFile> inputs = input_files(options.step);
  inputs.insert(inputs.end(), {{"--inputs", options.inputs}, {"--plan", options.plan}, {"--compare", options.compare}});
  check_outputs({{"--out", options.out}, {"--save", options.save}}, inputs);
  if (!options.compare.empty()) result_from_json(read_file(options.compare), options.compare);
}

const pjrt::Client& client_of(ClientSource& source, int64_t devices) {
  const pjrt::Client& client = source.get();
  const auto available = static_cast<int64_t>(client.devices().size());
  require<InvalidArgumentError>(devices <= available, "run",
                                "{} devices are wanted, the plug-in {} has {}: use --devices {}", devices,
                                client.plugin().path(), available, available);
  return client;
}

void note_changed_plan(const std::string& path, Progress& progress) {
  if (path.empty() || !plan::is_changed(read_file(path), path)) return;
  progress.note(fmt::format("warning: {} was changed after it was planned: what it predicts may be false", path));
}

void note_cap_passed(const RunOptions& options, const compiler::Compiled& compiled, Progress& progress) {
  if (!options.step.memory_gb) return;
  const auto measured = static_cast<double>(compiled.memory_per_device_bytes);
  if (measured <= *options.step.memory_gb * (1 << 30)) return;
  progress.note(
      fmt::format("warning: the program takes {} of a device, more than --memory-gb {:g}: the plan's "
                  "prediction was too low; give a smaller --memory-gb",
                  format_bytes(measured), *options.step.memory_gb));
}

/// After the plan is made and compiled, as only then it is known that they are needed: they may be as large as memory.
void place_inputs(const RunOptions& options, const compiler::Program& program, runtime::MeshExecutable& executable,
                  Progress& progress) {
  progress.show("placing inputs");
  if (options.inputs.empty()) progress.note("no --inputs: the first step gets made-up values (seed 0)");
  executable.set_inputs(options.inputs.empty() ? synthetic_inputs(program, 0) : read_inputs(program, options.inputs));
}

void write_results(const RunOptions& options, const compiler::Program& program, const plan::Plan& plan,
                   const compiler::Compiled& compiled, const RunResult& result) {
  std::vector<OutputFile> files;
  if (!options.out.empty()) files.push_back({options.out, result_json(result, compiled, plan)});
  if (!options.save.empty()) files.push_back({options.save, saved_outputs(compiled.executable, program.meta)});
  write_files(files);
}

int run(RunOptions options) {
  if (!options.plan.empty()) {
    const plan::Plan plan = plan::plan_from_json(read_file(options.plan), options.plan);
    if (options.step.mesh.empty() && !options.devices_given) options.step.mesh = plan.mesh.to_string();
    if (!options.micro_batches_given) options.step.micro_batches = plan.micro_batches;
  }
  compiler::PlanOptions planner = planner_options(options.step);
  check_options(options, planner);
  const Dump dump(options.step.dump_dir);
  Progress progress;
  progress.show("reading " + options.step.step);
  const compiler::Program program = load_step(options.step, dump.observer());
  compiler::check_steps(program, options.steps);
  note_unknown_loops(program, progress);
  if (!options.save.empty()) check_savable(program);
  check_inputs(program, options.inputs);
  ClientSource source(options.step.plugin_option(), planner.num_devices);
  const pjrt::Client& client = client_of(source, planner.num_devices);
  planner.compiler = compiler::device_compiler(client.plugin());
  const plan::Plan plan = make_plan(options, program, planner, progress);
  dump.plan(plan);
  progress.show(fmt::format("compiling for {} devices", plan.mesh.num_devices()));
  compiler::Compiled compiled = compiler::compile(program, plan, client, {.observer = dump.observer()});
  note_changed_plan(options.plan, progress);
  note_cap_passed(options, compiled, progress);
  place_inputs(options, program, compiled.executable, progress);
  const RunResult result = run_steps(compiled.executable, program.meta, options.steps, progress);
  progress.clear();
  const std::string report = run_report(options, program, plan, compiled, result);
  write_results(options, program, plan, compiled, result);
  fmt::print("{}", report);
  return 0;
}

}  // namespace

Command add_run(CLI::App& root) {
  CLI::App* app = root.add_subcommand("run", "Plans a training step, compiles it and runs it on the devices");
  auto options = std::make_shared<RunOptions>();
  app->footer(kExamples);
  add_step_options(*app, options->step);
  auto* devices =
      app->add_option("--devices", options->step.devices, "Number of devices. Default: the mesh's product, else 8");
  devices->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
  app->add_option("--inputs", options->inputs,
                  "Inputs of the first step by name (safetensors). Default: made-up values");
  app->add_option("--steps", options->steps, "Steps to run, all on the same batch")
      ->default_str("1")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  CLI::Option* plan = app->add_option("--plan", options->plan, "Runs this plan.json instead of planning");
  for (const char* option : kPlacementOptions) plan->excludes(app->get_option(option));
  app->add_option("--out", options->out, "Writes losses, times, collectives, memory and plan as JSON");
  app->add_option("--save", options->save, "Writes the outputs of the last step by name (safetensors)");
  app->add_flag("--plot", options->plot, "Draws the losses as a curve");
  app->add_option("--compare", options->compare, "A file that --out wrote: prints this run beside that one");
  return {app, [app, options] {
            options->method_given = app->count("--method") > 0;
            options->devices_given = app->count("--devices") > 0;
            options->cluster_given = app->count("--cluster") > 0;
            options->micro_batches_given = app->count("--micro-batches") > 0;
            return run(*options);
          }};
}

}  // namespace alpa::tool
