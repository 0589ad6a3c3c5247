// Steps whose backward pass makes values anew, under memory caps: their numbers against one device's, and the memory
// that the plug-in itself counts for the program that runs against that of the plan which keeps everything.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "alpa/base/error.h"
#include "alpa/compiler/compile.h"
#include "alpa/compiler/plan_program.h"
#include "alpa/hlo/builder.h"
#include "alpa/pjrt/testing/eight_devices.h"
#include "model_files.h"

namespace alpa {
namespace {

using compiler::Method;
using hlo::ComputationBuilder;
using hlo::InstructionId;
using hlo::Opcode;
using tensor::DType;
using tensor::Shape;

plan::Plan plan_of(const compiler::Program& program, Method method, std::optional<int64_t> cap, bool rematerialize) {
  compiler::PlanOptions options;
  options.method = method;
  options.mesh = mesh::LogicalMesh({method == Method::kNone ? 1 : 8});
  options.num_devices = options.mesh->num_devices();
  options.cluster = mesh::local_cpu(options.num_devices);
  options.memory_cap_bytes = cap;
  options.rematerialize = rematerialize;
  return compiler::plan_program(program, options);
}

int64_t share(int64_t bytes, double part) { return static_cast<int64_t>(part * static_cast<double>(bytes)); }

using Parameter = std::tuple<std::string, int>;  // model, plug-in

class CappedModels : public testing::TestWithParam<Parameter> {};

TEST_P(CappedModels, MakeValuesAnewAndGiveTheSameNumbersInLessMemory) {
  const auto& [model, plugin] = GetParam();
  const ModelFiles files = model_files(model);
  const compiler::Program program =
      compiler::load_program(read_file(model_folder(model) + "train_step.hlo.pb.xz"), model, files.meta, {});
  const pjrt::Client& client = pjrt::eight_devices(plugin);
  const plan::Plan whole = plan_of(program, Method::kNone, std::nullopt, true);
  EXPECT_TRUE(whole.rematerialized.empty());
  const int64_t cap = share(whole.predicted_memory_per_device_bytes, 0.9);
  EXPECT_THROW(plan_of(program, Method::kNone, cap, false), InfeasibleError);
  const plan::Plan plan = plan::plan_from_json(plan::to_json(plan_of(program, Method::kNone, cap, true)), "plan");
  EXPECT_FALSE(plan.rematerialized.empty());
  EXPECT_GT(plan.rematerialization_saved_bytes, 0);
  EXPECT_LT(plan.rematerialization_saved_bytes, whole.predicted_memory_per_device_bytes);
  EXPECT_GT(plan.rematerialization_added_seconds, 0);
  EXPECT_LE(plan.predicted_memory_per_device_bytes, cap);
  const int64_t before = compiler::compile(program, whole, client).memory_per_device_bytes;
  compiler::Compiled compiled = compiler::compile(program, plan, client);
  table().push_back(fmt::format("{:<12} {:<6} predicted {:.3f}, found {:.3f} of what keeping everything takes", model,
                                plugin == 0 ? "0.115" : "0.81",
                                static_cast<double>(plan.predicted_memory_per_device_bytes) /
                                    static_cast<double>(whole.predicted_memory_per_device_bytes),
                                static_cast<double>(compiled.memory_per_device_bytes) / static_cast<double>(before)));
  EXPECT_LT(static_cast<double>(compiled.memory_per_device_bytes), 0.98 * static_cast<double>(before));
  compiled.executable.set_inputs(files.inputs);
  const tensor::Literal& losses = files.expected.at("loss");
  for (int64_t step = 0; step < tensor::num_elements(losses.shape()); ++step) {
    compiled.executable.step();
    compiled.executable.sync();
    const double loss = compiled.executable.output(static_cast<int>(plan.outputs.size()) - 1).at(0);
    EXPECT_LE(std::abs(loss - losses.at(step)), 1e-4 * std::abs(losses.at(step))) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Rematerialization, CappedModels,
                         testing::Values(Parameter("gpt", 0), Parameter("gpt", 1), Parameter("bert", 0),
                                         Parameter("vit", 1), Parameter("unet", 0), Parameter("unet", 1)),
                         [](const testing::TestParamInfo<Parameter>& info) {
                           return std::get<0>(info.param) + (std::get<1>(info.param) == 0 ? "_115" : "_081");
                         });

// x_k+1 = tanh(x_k w_k), its loss half the sum of squares, and the step w_k - 0.01 dw_k, the derivatives by hand.
compiler::Program deep_network(int layers, int64_t batch, int64_t width) {
  hlo::ModuleBuilder module("deep_network");
  ComputationBuilder b("main");
  const Shape square(DType::kF32, {width, width});
  const Shape rows(DType::kF32, {batch, width});
  std::vector<InstructionId> weights;
  for (int k = 0; k < layers; ++k) weights.push_back(b.parameter(square, fmt::format("w{}", k)));
  std::vector<InstructionId> x = {b.parameter(rows, "x")};
  const auto whole = [&](double value, const Shape& shape) {
    return b.with_dimensions(Opcode::kBroadcast, shape, {b.scalar(DType::kF32, value)}, {});
  };
  for (const InstructionId w : weights)
    x.push_back(b.op(Opcode::kTanh, rows, {b.dot(rows, x.back(), w, {{1}, {0}, {}, {}})}));
  const auto add = module.reducer(Opcode::kAdd, DType::kF32);
  const InstructionId squares = b.op(Opcode::kMultiply, rows, {x.back(), x.back()});
  const InstructionId sum =
      b.with_dimensions(Opcode::kReduce, Shape(DType::kF32, {}), {squares, b.scalar(DType::kF32, 0)}, {0, 1}, {add});
  const InstructionId loss = b.op(Opcode::kMultiply, Shape(DType::kF32, {}), {sum, b.scalar(DType::kF32, 0.5)});
  InstructionId cotangent = x.back();
  std::vector<InstructionId> results(static_cast<size_t>(layers));
  for (size_t k = results.size(); k-- > 0;) {
    const InstructionId slope =
        b.op(Opcode::kSubtract, rows, {whole(1, rows), b.op(Opcode::kMultiply, rows, {x[k + 1], x[k + 1]})});
    const InstructionId inner = b.op(Opcode::kMultiply, rows, {cotangent, slope});
    const InstructionId gradient = b.dot(square, x[k], inner, {{0}, {0}, {}, {}});
    cotangent = b.dot(rows, inner, weights[k], {{1}, {1}, {}, {}});
    const InstructionId change = b.op(Opcode::kMultiply, square, {gradient, whole(0.01, square)});
    results[k] = b.op(Opcode::kSubtract, square, {weights[k], change});
  }
  compiler::Meta meta;
  for (int k = 0; k < layers; ++k) {
    meta.inputs.push_back({fmt::format("w{}", k), compiler::Role::kParams, square, true, false, std::nullopt});
    meta.outputs.push_back({fmt::format("w{}", k), compiler::Role::kParams, k});
  }
  meta.inputs.push_back({"x", compiler::Role::kBatch, rows, false, false, 0});
  meta.outputs.push_back({"loss", compiler::Role::kLoss, std::nullopt});
  results.push_back(loss);
  return compiler::program_from_module(std::move(module).build(std::move(b).build(b.tuple(results))), meta);
}

std::vector<tensor::Literal> inputs_of(const compiler::Program& program) {
  std::vector<tensor::Literal> inputs;
  for (const compiler::InputMeta& input : program.meta.inputs) {
    tensor::Literal value(input.shape);
    for (int64_t k = 0; k < tensor::num_elements(input.shape); ++k)
      value.set(k, 0.2 * std::sin(static_cast<double>(k % 1009) + 0.1 * static_cast<double>(inputs.size())));
    inputs.push_back(std::move(value));
  }
  return inputs;
}

class DeepNetworks : public testing::TestWithParam<int> {};  // plug-in

TEST_P(DeepNetworks, RunInHalfTheMemoryOnEightDevices) {
  const compiler::Program program = deep_network(16, 4096, 32);
  const pjrt::Client& client = pjrt::eight_devices(GetParam());
  const plan::Plan whole = plan_of(program, Method::kData, std::nullopt, true);
  const plan::Plan plan = plan_of(program, Method::kData, share(whole.predicted_memory_per_device_bytes, 0.65), true);
  EXPECT_FALSE(plan.rematerialized.empty());
  compiler::Compiled kept = compiler::compile(program, whole, client);
  compiler::Compiled anew = compiler::compile(program, plan, client);
  EXPECT_LT(static_cast<double>(anew.memory_per_device_bytes), 0.7 * static_cast<double>(kept.memory_per_device_bytes));
  for (compiler::Compiled* one : {&kept, &anew}) {
    one->executable.set_inputs(inputs_of(program));
    for (int step = 0; step < 2; ++step) one->executable.step();
    one->executable.sync();
  }
  for (int output = 0; output <= 16; ++output) {
    const tensor::Literal expected = kept.executable.output(output);
    const tensor::Literal got = anew.executable.output(output);
    for (int64_t k = 0; k < tensor::num_elements(expected.shape()); ++k)
      ASSERT_EQ(expected.at(k), got.at(k)) << "output " << output << ", element " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Rematerialization, DeepNetworks, testing::Values(0, 1));

TEST(Rematerialization, WhatFitsWithoutIsKept) {
  const compiler::Program program = deep_network(8, 512, 32);
  EXPECT_TRUE(plan_of(program, Method::kData, std::nullopt, true).rematerialized.empty());
}

TEST(Rematerialization, ACapThatNothingMeetsIsRefusedWithTheLeastMemory) {
  const compiler::Program program = deep_network(16, 4096, 32);
  const plan::Plan whole = plan_of(program, Method::kData, std::nullopt, true);
  try {
    plan_of(program, Method::kData, 1000, true);
    FAIL() << "planned";
  } catch (const InfeasibleError& error) {
    EXPECT_LT(error.least_memory_bytes(), share(whole.predicted_memory_per_device_bytes, 0.7));
    const plan::Plan plan = plan_of(program, Method::kData, error.least_memory_bytes(), true);
    EXPECT_LE(plan.predicted_memory_per_device_bytes, error.least_memory_bytes()) << error.what();
  }
}

TEST(Rematerialization, APlanThatNamesWhatCannotBeMadeAnewIsRefused) {
  const compiler::Program program = deep_network(4, 64, 32);
  plan::Plan plan = plan_of(program, Method::kNone, std::nullopt, true);
  plan.rematerialized = {"nowhere"};
  EXPECT_THROW(compiler::compile(program, plan, pjrt::eight_devices(0)), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa
