#include <fmt/format.h>

#include <memory>
#include <vector>

#include "alpa/base/output_file.h"
#include "alpa/compiler/compile_accumulated.h"
#include "alpa/compiler/plan_program.h"
#include "alpa/solver/iopddl.h"
#include "command.h"
#include "dump.h"
#include "format.h"
#include "progress.h"
#include "report.h"
#include "step_options.h"

namespace alpa::tool {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  alpa plan step.hlo.pb.xz --meta meta.json --cluster p3.16xlarge --mesh 2x4 --json plan.json\n"
    "  alpa plan step.hlo.pb --cluster h100-dgx --hosts 8 --memory-gb 70\n"
    "  alpa plan step.hlo.pb --mesh 8 --method data\n"
    "  alpa plan step.hlo.pb --mesh 2x4 --dump-problem problem.json.gz\n"
    "\n"
    "No device is needed; StableHLO needs a plug-in to read it. `alpa run --plan plan.json` runs what --json wrote.";

struct PlanOutputs {
  std::string json;
  std::string problem;
};

void dump_annotated(const compiler::Program& program, const plan::Plan& plan, const passes::PassObserver& observer) {
  if (!program.accumulation) {
    compiler::annotated_module(program, plan, observer);
    return;
  }
  const compiler::PlannedParts parts = compiler::planned_parts(program, plan);
  for (const compiler::PlannedPart* part : {&parts.accumulate, &parts.apply})
    compiler::annotated_module(part->program, part->plan, observer);
}

int run(StepOptions options, const PlanOutputs& outputs) {
  if (options.hosts == 0 && options.cluster != "local-cpu") options.hosts = mesh::load_cluster(options.cluster).hosts;
  compiler::PlanOptions planner = planner_options(options);
  check_outputs({{"--json", outputs.json}, {"--dump-problem", outputs.problem}}, input_files(options));
  const Dump dump(options.dump_dir);
  Progress progress;
  progress.show("reading " + options.step);
  const compiler::Program program = load_step(options, dump.observer());
  note_unknown_loops(program, progress);
  planner.progress = [&](const std::string& what, double seconds) {
    progress.show(fmt::format("{}, {:.1f} s", what, seconds));
  };
  std::vector<OutputFile> files;
  if (!outputs.problem.empty()) {
    planner.problem_observer = [&](const planner::AnsweredProblem& answered) {
      files.push_back({outputs.problem, solver::problem_file(outputs.problem, answered.problem)});
    };
  }
  const plan::Plan plan = compiler::plan_program(program, planner);
  progress.clear();
  dump.plan(plan);
  if (!options.dump_dir.empty()) dump_annotated(program, plan, dump.observer());
  if (!outputs.json.empty()) files.push_back({outputs.json, plan::to_json(plan)});
  if (!files.empty()) write_files(files);
  fmt::print("{}\n{}{}\n", plan_head(plan), placement_tables(plan, program.meta), communication_table(plan, nullptr));
  const double cap_bytes =
      static_cast<double>(planner.memory_cap_bytes.value_or(static_cast<int64_t>(planner.cluster.device.memory_bytes)));
  fmt::print("Memory of a device: {} predicted, of {}\n",
             format_bytes(static_cast<double>(plan.predicted_memory_per_device_bytes)), format_bytes(cap_bytes));
  return 0;
}

}  // namespace

Command add_plan(CLI::App& root) {
  CLI::App* app = root.add_subcommand("plan", "Plans a training step for a described cluster; needs no device");
  auto options = std::make_shared<StepOptions>();
  auto outputs = std::make_shared<PlanOutputs>();
  app->footer(kExamples);
  add_step_options(*app, *options);
  app->add_option("--hosts", options->hosts, "Hosts of the cluster. Default: as described")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
  app->add_option("--json", outputs->json, "Writes the plan");
  app->add_option("--dump-problem", outputs->problem,
                  "Writes the labelling problem in IOPDDL form, .gz or plain, for `alpa solve`; its costs are "
                  "picoseconds. Where several meshes are searched, that of the one chosen. By other methods than "
                  "shard the plan is one of its choices, not the best");
  return {app, [options, outputs] { return run(*options, *outputs); }};
}

}  // namespace alpa::tool
