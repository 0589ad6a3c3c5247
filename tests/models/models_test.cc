// Every model of tests/data/models on eight devices: losses and parameters against expected.safetensors, bytes found
// against bytes predicted, FLOPs of dots and convolutions summed over devices against one device's, planned
// communication against data parallelism's. A covering subset by default; ALPA_FULL_MATRIX=1: every model, mesh, method
// and plug-in, with a table at the end.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/compiler/compile.h"
#include "alpa/compiler/plan_program.h"
#include "alpa/hlo/flops.h"
#include "alpa/pjrt/testing/eight_devices.h"
#include "model_files.h"

namespace alpa {
namespace {

using compiler::Method;
using Parameter = std::tuple<std::string, std::string, Method, int>;  // model, mesh, method, plug-in

const std::vector<std::string> kMeshes = {"8", "2x4", "4x2", "2x2x2"};

// Measured to predicted memory of a device: XLA's copies for its layouts and its workspace are not predicted.
constexpr double kMostMemory = 1.5;

struct Fixture : ModelFiles {
  compiler::Program program;
};

const Fixture& fixture(const std::string& model) {
  static std::map<std::string, Fixture> known;
  const auto found = known.find(model);
  if (found != known.end()) return found->second;
  Fixture fixture{model_files(model), {}};
  fixture.program =
      compiler::load_program(read_file(model_folder(model) + "train_step.hlo.pb.xz"), model, fixture.meta, {});
  return known.emplace(model, std::move(fixture)).first->second;
}

plan::Plan plan_of(const Fixture& fixture, const std::string& mesh, Method method) {
  compiler::PlanOptions options;
  options.method = method;
  options.mesh = mesh::LogicalMesh::parse(mesh);
  options.cluster = mesh::local_cpu(8);
  return compiler::plan_program(fixture.program, options);
}

struct Row {
  double loss_error = 0;
  double parameter_error = 0;
  double byte_error = 0;
  double flops_share = 0;
  double memory_ratio = 0;  ///< Measured to predicted.
  plan::Plan plan;
  std::map<std::string, hlo::CollectiveTotal> found;
};

double relative_error(const tensor::Literal& expected, const tensor::Literal& got) {
  double largest = 1e-12;
  double worst = 0;
  for (int64_t k = 0; k < tensor::num_elements(expected.shape()); ++k) {
    const double delta = std::hypot(expected.at(k) - got.at(k), expected.imaginary_at(k) - got.imaginary_at(k));
    if (std::isnan(delta)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::hypot(expected.at(k), expected.imaginary_at(k)));
    worst = std::max(worst, delta);
  }
  return worst / largest;
}

Row run(const std::string& model, const std::string& mesh, Method method, int plugin) {
  const Fixture& data = fixture(model);
  Row row;
  row.plan = plan_of(data, mesh, method);
  compiler::Compiled compiled = compiler::compile(data.program, row.plan, pjrt::eight_devices(plugin));
  compiled.executable.set_inputs(data.inputs);
  const auto loss_index = static_cast<int>(row.plan.outputs.size()) - 1;
  const tensor::Literal& losses = data.expected.at("loss");
  for (int64_t step = 0; step < tensor::num_elements(losses.shape()); ++step) {
    compiled.executable.step();
    compiled.executable.sync();
    const double loss = compiled.executable.output(loss_index).at(0);
    const double error = std::abs(loss - losses.at(step)) / std::abs(losses.at(step));
    row.loss_error = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(row.loss_error, error);
  }
  for (size_t k = 0; k + 1 < row.plan.outputs.size(); ++k) {
    const auto expected = data.expected.find(row.plan.outputs[k].name);
    if (expected == data.expected.end()) continue;
    row.parameter_error = std::max(row.parameter_error,
                                   relative_error(expected->second, compiled.executable.output(static_cast<int>(k))));
  }
  double predicted = 0;
  double found = 0;
  for (const auto& [kind, total] : row.plan.collectives) predicted += total.bytes;
  for (const auto& [kind, total] : compiled.found) found += total.bytes;
  row.byte_error = found == predicted ? 0 : std::abs(found - predicted) / std::max(found, 1.0);
  row.found = compiled.found;
  row.memory_ratio = static_cast<double>(compiled.memory_per_device_bytes) /
                     static_cast<double>(row.plan.predicted_memory_per_device_bytes);
  row.flops_share = static_cast<double>(compiled.contraction_flops) /
                    static_cast<double>(hlo::contraction_flops(data.program.module));
  return row;
}

class Models : public testing::TestWithParam<Parameter> {};

TEST_P(Models, GiveTheNumbersOfOneDevice) {
  const auto& [model, mesh, method, plugin] = GetParam();
  const Row row = run(model, mesh, method, plugin);
  EXPECT_LE(row.loss_error, 1e-4);
  EXPECT_LE(row.parameter_error, 1e-2);
  EXPECT_LE(row.byte_error, 0.1);
  EXPECT_LE(row.memory_ratio, kMostMemory);
  if (method == Method::kShard) {
    EXPECT_LE(row.flops_share, 1.05);
    EXPECT_LE(row.plan.gap(), 0.01);
  }
  std::string kinds;
  for (const auto& [kind, total] : row.found)
    kinds += fmt::format(" {} {:.0f}/{:.0f}", kind, total.bytes,
                         row.plan.collectives.count(kind) ? row.plan.collectives.at(kind).bytes : 0);
  table().push_back(fmt::format(
      "{:<12} {:<6} {:<6} {:<5} loss {:.1e} param {:.1e} bytes {:+.3f} flops {:.3f} memory {:.3f} plan {:6.2f} s gap "
      "{:.4f} comm {:.3e} s |{}",
      model, mesh, compiler::name(method), plugin == 0 ? "0.115" : "0.81", row.loss_error, row.parameter_error,
      row.byte_error, row.flops_share, row.memory_ratio, row.plan.planning_seconds, row.plan.gap(),
      row.plan.communication_seconds, kinds));
}

TEST(Plans, NeverCommunicateMoreThanDataParallelism) {
  for (const std::string& model : kModels) {
    for (const std::string& mesh : kMeshes) {
      const plan::Plan data = plan_of(fixture(model), mesh, Method::kData);
      const plan::Plan shard = plan_of(fixture(model), mesh, Method::kShard);
      EXPECT_LE(shard.communication_seconds, data.communication_seconds) << model << " on " << mesh;
    }
  }
}

// A sum over devices is a reduce-scatter and an all-gather: where the optimizer's state is divided, each gradient is
// scattered and each parameter gathered once, and neither is more than data parallelism sums.
TEST(Plans, Zero2ScattersAndGathersAsMuchAsDataParallelismSums) {
  for (const std::string model : {"mlp", "gpt", "bert", "unet"}) {
    for (const std::string mesh : {"8", "2x4"}) {
      const double summed = plan_of(fixture(model), mesh, Method::kData).collectives.at("all-reduce").bytes;
      const auto zero = plan_of(fixture(model), mesh, Method::kZero2).collectives;
      EXPECT_LE(zero.at("reduce-scatter").bytes, summed) << model << " on " << mesh;
      EXPECT_LE(zero.at("all-gather").bytes, summed) << model << " on " << mesh;
      EXPECT_LE(zero.at("all-reduce").bytes, 0.02 * summed) << model << " on " << mesh;
    }
  }
}

std::vector<Parameter> parameters() {
  std::vector<Parameter> result;
  for (size_t m = 0; m < kModels.size(); ++m) {
    for (size_t k = 0; k < kMeshes.size(); ++k) {
      for (const Method method : {Method::kData, Method::kShard, Method::kZero2, Method::kZero3}) {
        for (const int plugin : {0, 1}) {
          // Covering: each model once a plug-in, meshes in turn, every fourth model by data and by a ZeRO stage.
          const size_t turn = method == Method::kZero2 ? 0 : method == Method::kZero3 ? 1 : 2;
          const bool covered = k == (m + 2 * static_cast<size_t>(plugin)) % kMeshes.size() &&
                               (method == Method::kShard || m % 4 == turn);
          const bool data_mesh_once = method == Method::kShard || kMeshes[k] == "8" || kMeshes[k] == "2x4";
          if (full_matrix() ? data_mesh_once : covered) result.emplace_back(kModels[m], kMeshes[k], method, plugin);
        }
      }
    }
  }
  return result;
}

std::string parameter_name(const testing::TestParamInfo<Parameter>& info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param) + "_" +
         std::string(compiler::name(std::get<2>(info.param))) +
         (std::get<3>(info.param) == 0 ? "_new_xla" : "_old_xla");
}

INSTANTIATE_TEST_SUITE_P(All, Models, testing::ValuesIn(parameters()), parameter_name);

}  // namespace
}  // namespace alpa
