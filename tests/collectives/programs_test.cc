// The partitioned programs of the models, run before and after each pass on the same inputs, on every device. A
// covering subset by default; ALPA_FULL_MATRIX=1: every model, mesh and method, on both plug-ins.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "alpa/base/file.h"
#include "alpa/compiler/compile.h"
#include "alpa/compiler/partition.h"
#include "alpa/compiler/plan_program.h"
#include "alpa/runtime/array/distributed_array.h"
#include "alpa/tensor/safetensors.h"
#include "run_spmd.h"

namespace alpa::collectives {
namespace {

using compiler::Method;

constexpr double kOtherOrder = 5e-6;  // of a sum, relative to the largest value; a lost addend changes an eighth
constexpr double kDivided = 1e-3;     // of what an optimizer divided by its own size, which may be next to nothing

struct Case {
  std::string model;
  std::string mesh;
  Method method;
  int plugin;
  std::vector<compiler::Constraint> constraints = {};
};

std::string folder(const std::string& model) { return std::string(ALPA_TEST_DATA) + "/models/" + model + "/"; }

compiler::Program load(const std::string& model) {
  const compiler::Meta meta = compiler::parse_meta(read_file(folder(model) + "meta.json"), "meta.json");
  return compiler::load_program(read_file(folder(model) + "train_step.hlo.pb.xz"), model, meta, {});
}

plan::Plan plan_of(const compiler::Program& program, const Case& one) {
  compiler::PlanOptions options;
  options.method = one.method;
  options.mesh = mesh::LogicalMesh::parse(one.mesh);
  options.cluster = mesh::local_cpu(8);
  options.constraints = one.constraints;
  return compiler::plan_program(program, options);
}

PerDevice inputs_of(const compiler::Program& program, const plan::Plan& plan, const Case& one) {
  const auto given = tensor::read_safetensors(read_file(folder(one.model) + "inputs.safetensors"), "inputs");
  PerDevice inputs(8);
  for (size_t k = 0; k < program.meta.inputs.size(); ++k) {
    const compiler::InputMeta& input = program.meta.inputs[k];
    const tensor::Literal value = input.zeros ? tensor::Literal(input.shape) : given.at(input.name);
    auto array =
        runtime::DistributedArray::place(pjrt::eight_devices(one.plugin), value, plan.inputs[k].spec, plan.mesh);
    for (size_t device = 0; device < inputs.size(); ++device)
      inputs[device].push_back(array.buffers()[device].to_host());
  }
  return inputs;
}

hlo::Module partitioned(const compiler::Program& program, const plan::Plan& plan, int plugin) {
  pjrt::CompileOptions options;
  options.num_partitions = 8;
  options.use_spmd_partitioning = true;
  return compiler::partition(compiler::annotated_module(program, plan), pjrt::eight_devices(plugin), options);
}

std::string describe(const hlo::Module& module) {
  std::string text;
  for (const auto& [kind, total] : hlo::collectives(module))
    text += fmt::format(" {} x{} {:.0f} B,", kind, total.count, total.bytes);
  return text;
}

class Programs : public testing::TestWithParam<Case> {};

TEST_P(Programs, GiveTheSameBeforeAndAfterEachPass) {
  const Case& one = GetParam();
  const compiler::Program program = load(one.model);
  const plan::Plan plan = plan_of(program, one);
  const PerDevice inputs = inputs_of(program, plan, one);
  hlo::Module before = partitioned(program, plan, one.plugin);
  PerDevice expected = run(before, inputs, one.plugin);
  fmt::print("{:<24}{}\n", "partitioned", describe(before));
  std::string known = describe(before);
  compiler::rewritten_module(before, 8, [&](const passes::PassRecord& record, const hlo::Module& after) {
    if (record.name == "as_replicas" || describe(after) == known) return;
    known = describe(after);
    PerDevice got = run(after, inputs, one.plugin);
    const std::vector<double> differences = collectives::differences(expected, got);
    double worst = 0;
    for (size_t k = 0; k < differences.size(); ++k) {
      const std::string& name = plan.outputs[k].name;
      const bool divided = name.find(".mu.") == std::string::npos && k + 1 < differences.size();
      if (differences[k] > kOtherOrder) fmt::print("  {} {:.1e}\n", name, differences[k]);
      EXPECT_LE(differences[k], divided ? kDivided : kOtherOrder) << record.name << ": " << name;
      worst = std::max(worst, differences[k]);
    }
    fmt::print("{:<24}{} difference {:.1e}\n", record.name, known, worst);
    expected = std::move(got);
  });
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return info.param.model + "_" + info.param.mesh + "_" + std::string(compiler::name(info.param.method)) +
         (info.param.constraints.empty() ? "" : "_sharded_state") + (info.param.plugin == 0 ? "_new_xla" : "_old_xla");
}

std::vector<Case> cases() {
  const std::vector<std::string> models = {"bert", "bert_rbg", "dlrm", "gpt", "gpt_scan",   "lstm",
                                           "mlp",  "moe",      "unet", "vit", "wide_resnet"};
  const std::vector<std::string> meshes = {"8", "2x4", "2x2x2"};
  const bool full = std::getenv("ALPA_FULL_MATRIX") != nullptr;
  std::vector<Case> result;
  for (size_t m = 0; m < models.size(); ++m) {
    for (size_t k = 0; k < meshes.size(); ++k) {
      for (const Method method : {Method::kData, Method::kShard}) {
        for (const int plugin : {0, 1}) {
          const bool covering =
              plugin == static_cast<int>(m % 2) && k == m % 3 && (method == Method::kShard) == (m % 3 != 0);
          if (full || covering) result.push_back({models[m], meshes[k], method, plugin});
        }
      }
    }
  }
  return result;
}

INSTANTIATE_TEST_SUITE_P(Models, Programs, testing::ValuesIn(cases()), name_of);

}  // namespace
}  // namespace alpa::collectives
