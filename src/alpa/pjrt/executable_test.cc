#include "alpa/pjrt/executable.h"

#include <algorithm>
#include <cmath>
#include <future>

#include "alpa/base/error.h"
#include "alpa/pjrt/testing/plugins.h"

namespace alpa::pjrt {
namespace {

using tensor::DType;
using tensor::Literal;
using tensor::Shape;

class ExecutableOn : public OnPlugin {};
ALPA_ON_BOTH_PLUGINS(ExecutableOn);

constexpr int kBatchX = 25;
constexpr int kBatchY = 26;
constexpr int kLoss = 25;

/// The inputs of the MLP's training step: kernels and batch pseudo-random, biases and optimizer state zero.
std::vector<Literal> mlp_inputs(const Executable& step) {
  std::vector<Literal> inputs;
  for (int i = 0; i < kBatchX; ++i) inputs.emplace_back(step.output_shapes()[i]);
  inputs.emplace_back(Shape(DType::kF32, {32, 64}));
  inputs.emplace_back(Shape(DType::kF32, {32, 16}));
  uint32_t state = 1;
  for (const int i : {1, 3, 5, 7, kBatchX, kBatchY}) {
    for (int64_t k = 0; k < tensor::num_elements(inputs[i].shape()); ++k) {
      state = state * 1664525u + 1013904223u;
      inputs[i].set(k, ((state >> 8) / 16777216.0 - 0.5) * (i < kBatchX ? 0.2 : 2.0));
    }
  }
  return inputs;
}

/// x W for all rows, with ReLU unless it is the last layer; the biases are zero.
Literal layer(const Literal& x, const Literal& w, bool last) {
  const int64_t rows = x.shape().dims[0], inner = w.shape().dims[0], columns = w.shape().dims[1];
  Literal result(Shape(DType::kF64, {rows, columns}));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (int64_t k = 0; k < inner; ++k) sum += x.at(r * inner + k) * w.at(k * columns + c);
      result.set(r * columns + c, last ? sum : std::max(sum, 0.0));
    }
  }
  return result;
}

double mlp_loss(const std::vector<Literal>& inputs) {
  Literal value = inputs[kBatchX];
  for (const int kernel : {1, 3, 5, 7}) value = layer(value, inputs[kernel], kernel == 7);
  double sum = 0;
  const int64_t count = tensor::num_elements(value.shape());
  for (int64_t i = 0; i < count; ++i) sum += std::pow(value.at(i) - inputs[kBatchY].at(i), 2);
  return sum / static_cast<double>(count);
}

std::vector<Buffer> to_device(const Client& client, const std::vector<Literal>& literals, int device = 0) {
  std::vector<Buffer> buffers;
  for (const Literal& literal : literals)
    buffers.push_back(Buffer::from_host(client, client.devices()[device], literal));
  return buffers;
}

TEST_P(ExecutableOn, MlpStepGivesTheLossInEitherFormat) {
  const Client one = client();
  for (const auto& [file, format] :
       {std::pair("train_step.hlo.pb", Format::kHlo), {"train_step.mlirbc", Format::kMlir}}) {
    Executable step = Executable::compile(one, model_file(file), format);
    const std::vector<Literal> inputs = mlp_inputs(step);
    std::vector<Buffer> buffers = to_device(one, inputs);
    const std::vector<std::vector<Buffer*>> arguments = {pointers(buffers)};
    ExecuteResult result = step.execute(arguments);
    ASSERT_EQ(result.events.size(), 1u);
    result.events[0].await();
    EXPECT_NEAR(result.outputs[0][kLoss].to_host().at(0), mlp_loss(inputs), 1e-4);
  }
}

TEST_P(ExecutableOn, DescribesItself) {
  const Client one = client();
  const Executable step = Executable::compile(one, model_file("train_step.hlo.pb"), Format::kHlo);
  EXPECT_EQ(step.name(), "jit_train_step");
  EXPECT_EQ(step.num_outputs(), 26);
  EXPECT_EQ(step.output_shapes()[1], Shape(DType::kF32, {64, 256}));
  EXPECT_EQ(step.output_shapes()[8], Shape(DType::kS32, {}));
  EXPECT_EQ(step.num_partitions(), 1);
  ASSERT_EQ(step.devices().size(), 1u);
  EXPECT_FALSE(step.fingerprint().empty());
  const ProgramBytes program = step.optimized_program();
  EXPECT_EQ(program.format, "hlo_with_config");
  EXPECT_GT(program.bytes.size(), 10000u);
  const auto costs = step.cost_analysis();
  EXPECT_TRUE(costs.empty() || costs.at("flops") > 1e7);
}

TEST_P(ExecutableOn, CountsItsMemory) {
  const Client one = client();
  const Executable step = Executable::compile(one, model_file("train_step.hlo.pb"), Format::kHlo);
  const auto stats = step.memory_stats();
  ASSERT_TRUE(stats.has_value());
  const int64_t weights = 4 * (3 * 152336 + 1);
  EXPECT_EQ(stats->argument_bytes, weights + 4 * 32 * (64 + 16));
  EXPECT_EQ(stats->alias_bytes, weights);
  EXPECT_GE(stats->output_bytes, weights + 4);
  EXPECT_GT(stats->temp_bytes, 0);
}

TEST_P(ExecutableOn, DonatesWhatTheProgramAliasesAndSparesTheRest) {
  const Client one = client();
  Executable step = Executable::compile(one, model_file("train_step.hlo.pb"), Format::kHlo);
  const std::vector<Literal> inputs = mlp_inputs(step);
  const double before = inputs[1].at(0);
  std::vector<Buffer> buffers = to_device(one, inputs);
  const std::vector<std::vector<Buffer*>> arguments = {pointers(buffers)};
  const std::vector<int64_t> spared = {3};
  step.execute(arguments, {.non_donatable = spared}).events[0].await();
  EXPECT_TRUE(buffers[1].is_deleted());
  EXPECT_FALSE(buffers[3].is_deleted());
  EXPECT_FALSE(buffers[kBatchX].is_deleted());
  EXPECT_EQ(inputs[1].at(0), before);  // Host memory lent to the plug-in is not written.
  ALPA_EXPECT_ERROR(step.execute(arguments), Error, "deleted or donated");
}

TEST_P(ExecutableOn, StepLoopReplacesItsBuffersInPlace) {
  const Client one = client();
  Executable step = Executable::compile(one, model_file("train_step.hlo.pb"), Format::kHlo);
  std::vector<Buffer> first = to_device(one, mlp_inputs(step));
  std::vector<std::vector<Buffer*>> arguments = {pointers(first)};
  ExecuteResult result = step.execute(arguments);
  for (int i = 0; i < kBatchX; ++i) arguments[0][i] = &result.outputs[0][i];
  double loss = result.outputs[0][kLoss].to_host().at(0);
  for (int i = 0; i < 5; ++i) {
    step.execute_into(arguments, {.want_events = false}, result);
    EXPECT_TRUE(result.events.empty());
    const double next = result.outputs[0][kLoss].to_host().at(0);
    EXPECT_LT(next, loss);
    loss = next;
  }
  EXPECT_EQ(result.outputs[0][8].to_host().at(0), 6);
}

/// x of 8 rows, one a device, times two.
constexpr const char* kEightParts = R"(
module @eight attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<8x4xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"})
      -> (tensor<8x4xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"}) {
    %0 = stablehlo.add %x, %x : tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
})";

TEST_P(ExecutableOn, RunsOnEightDevicesInTheAssignedOrder) {
  const Client eight = client(8);
  CompileOptions options;
  options.num_partitions = 8;
  options.use_spmd_partitioning = true;
  options.device_ids = {7, 6, 5, 4, 3, 2, 1, 0};
  Executable program = Executable::compile(eight, kEightParts, Format::kMlir, options);
  ASSERT_EQ(program.devices().size(), 8u);
  EXPECT_EQ(program.output_shapes()[0], Shape(DType::kF32, {1, 4}));
  std::vector<Buffer> buffers;
  std::vector<std::vector<Buffer*>> arguments(8);
  for (int part = 0; part < 8; ++part) {
    EXPECT_EQ(program.devices()[part], 7 - part);
    Literal row(Shape(DType::kF32, {1, 4}));
    row.set(2, part);
    buffers.push_back(Buffer::from_host(eight, eight.devices()[program.devices()[part]], row));
  }
  for (int part = 0; part < 8; ++part) arguments[part] = {&buffers[part]};
  const ExecuteResult result = program.execute(arguments);
  for (int part = 0; part < 8; ++part) {
    result.events[part].await();
    EXPECT_EQ(result.outputs[part][0].device().index(), 7 - part);
    EXPECT_EQ(result.outputs[part][0].to_host().at(2), 2.0 * part);
  }
}

TEST_P(ExecutableOn, RejectsListsThatDoNotFit) {
  const Client one = client();
  Executable program = Executable::compile(one, kEightParts, Format::kMlir, {});
  ALPA_EXPECT_ERROR(program.execute({}), InvalidArgumentError, "0 argument lists for 1 devices");
  const std::vector<std::vector<Buffer*>> empty = {{nullptr}};
  ALPA_EXPECT_ERROR(program.execute(empty), InvalidArgumentError, "argument 0 on device 0 is empty");
  const std::vector<std::vector<Buffer*>> few(1);
  ALPA_EXPECT_ERROR(program.execute(few), InvalidArgumentError, "supplied 0");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // Their allocators end the process instead.
/// 2^48 bytes, more than a process can address.
constexpr const char* kTooLarge = R"(
module @large {
  func.func public @main(%x: tensor<f32>) -> (tensor<70368744177664xf32>) {
    %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<70368744177664xf32>
    return %0 : tensor<70368744177664xf32>
  }
})";

TEST_P(ExecutableOn, OutOfMemoryIsTypedAndTheClientLivesOn) {
  const Client two = client(2);
  Executable alone = Executable::compile(two, kTooLarge, Format::kMlir);
  Executable pair = Executable::compile(two, kTooLarge, Format::kMlir, {.num_replicas = 2});
  const Literal scalar(Shape(DType::kF32, {}));
  Buffer first = Buffer::from_host(two, two.devices()[0], scalar);
  Buffer second = Buffer::from_host(two, two.devices()[1], scalar);
  const std::vector<std::vector<Buffer*>> one_list = {{&first}};
  const std::vector<std::vector<Buffer*>> two_lists = {{&first}, {&second}};
  ALPA_EXPECT_ERROR(alone.execute(one_list), OutOfMemoryError, "281474976710656 bytes");
  const ExecuteResult result = pair.execute(two_lists);  // Runs on the plug-in's threads: the error comes later.
  for (const Event& event : result.events) {
    ALPA_EXPECT_ERROR(event.await(), OutOfMemoryError, "281474976710656 bytes");
    std::promise<bool> failed;
    event.on_ready([&](const std::exception_ptr& error) { failed.set_value(error != nullptr); });
    EXPECT_TRUE(failed.get_future().get());
  }
  EXPECT_EQ(first.to_host().at(0), 0);
}
#endif

TEST_P(ExecutableOn, BadProgramsGiveThePluginsText) {
  const Client one = client();
  ALPA_EXPECT_ERROR(Executable::compile(one, "not HLO", Format::kHlo), InvalidArgumentError, "HloModuleProto");
  ALPA_EXPECT_ERROR(Executable::compile(one, "module { nonsense }", Format::kMlir), PluginError, "nonsense");
}

TEST_P(ExecutableOn, BadOptionsGiveThePluginsText) {
  const Client one = client();
  CompileOptions options;
  options.overrides["no_such_option"] = true;
  ALPA_EXPECT_ERROR(Executable::compile(one, kEightParts, Format::kMlir, options), InvalidArgumentError,
                    "no_such_option");
  options = {};
  options.device_ids = {0, 1};
  ALPA_EXPECT_ERROR(Executable::compile(one, kEightParts, Format::kMlir, options), InvalidArgumentError,
                    "2 device ids for 1");
  options.device_ids = {99};
  ALPA_EXPECT_ERROR(Executable::compile(one, kEightParts, Format::kMlir, options), InvalidArgumentError, "99");
}

}  // namespace
}  // namespace alpa::pjrt
