// Memory of a device that plans predict, against the plug-in's statistics of what it compiled, for every model. A
// covering subset by default; ALPA_FULL_MATRIX=1: every model, mesh, method and plug-in, with a table at the end.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "alpa/base/file.h"
#include "alpa/compiler/compile.h"
#include "alpa/compiler/device_compiler.h"
#include "alpa/compiler/plan_program.h"
#include "alpa/pjrt/testing/eight_devices.h"
#include "model_files.h"

namespace alpa {
namespace {

using compiler::Method;
using Parameter =
    std::tuple<std::string, std::string, Method, int, int>;  // model, mesh, method, micro-batches, plug-in

// By plug-in: how far the prediction may be off, as a share of what was found.
constexpr double kMostError[] = {0.10, 0.15};

compiler::Program program_of(const std::string& model, int micro_batches) {
  const std::string folder = model_folder(model);
  const compiler::Meta meta = compiler::parse_meta(read_file(folder + "meta.json"), "meta.json");
  const std::string step = micro_batches == 1 ? "train_step.hlo.pb.xz" : "train_step_marked.hlo.pb.xz";
  return compiler::load_program(read_file(folder + step), model, meta, {}, {}, micro_batches);
}

class Memory : public testing::TestWithParam<Parameter> {};

TEST_P(Memory, IsThatOfTheCompiledProgram) {
  const auto& [model, mesh, method, micro_batches, plugin] = GetParam();
  const pjrt::Client& client = pjrt::eight_devices(plugin);
  const compiler::Program program = program_of(model, micro_batches);
  compiler::PlanOptions options;
  options.method = method;
  options.mesh = mesh::LogicalMesh::parse(mesh);
  options.cluster = mesh::local_cpu(options.mesh->num_devices());
  options.compiler = compiler::device_compiler(client.plugin());
  const plan::Plan plan = compiler::plan_program(program, options);
  const compiler::Compiled compiled = compiler::compile(program, plan, client);
  const auto predicted = static_cast<double>(plan.predicted_memory_per_device_bytes);
  const auto found = static_cast<double>(compiled.memory_per_device_bytes);
  EXPECT_LE(std::abs(predicted / found - 1), kMostError[plugin]) << predicted << " predicted, " << found << " found";
  table().push_back(fmt::format("{:<12} {:<4} {:<6} {} {:<5} {:>9} found, predicted {:.3f} of it", model, mesh,
                                compiler::name(method), micro_batches, plugin == 0 ? "0.115" : "0.81", found,
                                predicted / found));
}

std::vector<Parameter> parameters() {
  const std::vector<std::pair<std::string, Method>> plans = {
      {"1", Method::kNone},   {"8", Method::kShard},   {"2x4", Method::kZero2},
      {"8", Method::kData},   {"2x4", Method::kShard}, {"8", Method::kZero3},
      {"2x4", Method::kData}, {"8", Method::kZero2},   {"2x4", Method::kZero3}};
  constexpr int kMicroBatches[] = {1, 2, 4};
  std::vector<Parameter> result;
  for (size_t m = 0; m < kModels.size(); ++m) {
    for (size_t k = 0; k < plans.size(); ++k) {
      for (size_t n = 0; n < std::size(kMicroBatches); ++n) {
        for (const int plugin : {0, 1}) {
          // Covering: a plan a model and plug-in, in turn; with micro-batches 2 on one plug-in, 4 on the other.
          const bool covered = k == (m + n + 4 * static_cast<size_t>(plugin)) % plans.size();
          const bool chosen = n == 0 || (m + n + static_cast<size_t>(plugin)) % 2 == 0;
          if (full_matrix() || (covered && chosen))
            result.emplace_back(kModels[m], plans[k].first, plans[k].second, kMicroBatches[n], plugin);
        }
      }
    }
  }
  return result;
}

std::string parameter_name(const testing::TestParamInfo<Parameter>& info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param) + "_" +
         std::string(compiler::name(std::get<2>(info.param))) + fmt::format("_{}", std::get<3>(info.param)) +
         (std::get<4>(info.param) == 0 ? "_new_xla" : "_old_xla");
}

INSTANTIATE_TEST_SUITE_P(All, Memory, testing::ValuesIn(parameters()), parameter_name);

}  // namespace
}  // namespace alpa
