// Placements that people write by hand, and the collectives that must follow from them in the program that runs: tensor
// parallelism of a transformer layer (Shoeybi et al., "Megatron-LM", 2019, section 3), with the batch on an axis of its
// own too, and experts on the batch's axis (Lepikhin et al., "GShard", ICLR 2021).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "alpa/alpa.h"
#include "alpa/compiler/compile.h"
#include "alpa/compiler/plan_program.h"
#include "alpa/hlo/collectives.h"
#include "alpa/hlo/text.h"
#include "alpa/pjrt/testing/eight_devices.h"
#include "model_files.h"

namespace alpa {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr int64_t kBatch = 8, kLength = 24, kWidth = 64, kHeads = 8;

struct Layer {
  Array scale1, scale2;  // [H]
  Array q, k, v, out;    // [H,H]
  Array up, bias, down;  // [H,4H], [4H], [4H,H]
  ALPA_PYTREE(scale1, scale2, q, k, v, out, up, bias, down)
};

using Layers = std::vector<Layer>;

struct Batch {
  Array x, y;  // [B,S,H]
  ALPA_PYTREE(x, y)
};

// Made on the host: all of different numbers.
Array some_numbers(int seed, const Dims& dims, double scale) {
  const auto count = static_cast<size_t>(tensor::num_elements(Shape(DType::kF32, dims)));
  std::vector<float> values(count);
  for (size_t k = 0; k < count; ++k)
    values[k] = static_cast<float>(scale * std::sin(seed + 1.7 * static_cast<double>(k)));
  return Array::from(values, dims);
}

Layers some_layers(int count) {
  Layers layers;
  for (int k = 0; k < count; ++k) {
    const auto matrix = [&](int which, int64_t in, int64_t out) {
      return some_numbers(10 * k + which, {in, out}, 1 / std::sqrt(static_cast<double>(in)));
    };
    layers.push_back({ones({kWidth}), ones({kWidth}), matrix(0, kWidth, kWidth), matrix(1, kWidth, kWidth),
                      matrix(2, kWidth, kWidth), matrix(3, kWidth, kWidth), matrix(4, kWidth, 4 * kWidth),
                      zeros({4 * kWidth}), matrix(5, 4 * kWidth, kWidth)});
  }
  return layers;
}

Batch some_batch() {
  return {some_numbers(100, {kBatch, kLength, kWidth}, 1), some_numbers(101, {kBatch, kLength, kWidth}, 1)};
}

Array normalized(const Array& x, const Array& scale) {
  const Array centred = x - mean(x, {-1}, true);
  return centred / sqrt(mean(square(centred), {-1}, true) + 1e-5) * scale;
}

Array attention(const Layer& layer, const Array& x) {
  const auto heads = [&](const Array& kernel) {
    return matmul(x, kernel).reshape({kBatch, kLength, kHeads, kWidth / kHeads});
  };
  const Array scores = einsum("bqhd,bkhd->bhqk", heads(layer.q), heads(layer.k)) / std::sqrt(kWidth / kHeads);
  const Array mixed = einsum("bhqk,bkhd->bqhd", softmax(scores), heads(layer.v));
  return matmul(mixed.reshape({kBatch, kLength, kWidth}), layer.out);
}

// What is added up along the layers lies as `stream` says.
Array forward(const Layers& layers, Array x, const std::string& stream) {
  for (const Layer& layer : layers) {
    x = with_sharding_constraint(x + attention(layer, normalized(x, layer.scale1)), stream);
    const Array hidden = gelu(matmul(normalized(x, layer.scale2), layer.up) + layer.bias);
    x = with_sharding_constraint(x + matmul(hidden, layer.down), stream);
  }
  return x;
}

std::pair<Array, Layers> step(const Layers& layers, const Batch& batch, const std::string& stream) {
  return value_and_grad([&](const Layers& l) { return mean(square(forward(l, batch.x, stream) - batch.y)); })(layers);
}

class TensorParallel : public testing::Test {
 protected:
  void SetUp() override { init("local", {.num_devices = 8}); }
  void TearDown() override { shutdown(); }
};

// The matrices into the heads and the hidden layer by columns, those out of them by rows, over `axis`; all else whole.
ShardParallel megatron(std::vector<int64_t> mesh, const std::string& axis, const std::string& batch) {
  ShardParallel method(std::move(mesh));
  method.auto_sharding_option.force_data_parallel = true;  // All else follows: the planner might find better.
  auto& inputs = method.manual_sharding_option.inputs;
  for (const char* kernel : {"q", "k", "v", "up"})
    inputs.push_back({"args[0][*]." + std::string(kernel), "(None," + axis + ")"});
  for (const char* kernel : {"out", "down"})
    inputs.push_back({"args[0][*]." + std::string(kernel), "(" + axis + ",None)"});
  inputs.push_back({"args[0][*].bias", "(" + axis + ")"});
  inputs.push_back({"args[0][*].scale*", "(None)"});
  inputs.push_back({"args[1].*", batch});
  for (const char* kernel : {"q", "k", "v", "up"})
    method.manual_sharding_option.outputs.push_back({"result[1][*]." + std::string(kernel), "(None," + axis + ")"});
  for (const char* kernel : {"out", "down"})
    method.manual_sharding_option.outputs.push_back({"result[1][*]." + std::string(kernel), "(" + axis + ",None)"});
  return method;
}

// Arrays that each kind of collective moves, a step: those of the stream's size, with `rows` of the batch on a device,
// and those of another. Combined ones count as what they combine.
std::map<std::string, double> stream_collectives(const Executable& executable, int64_t rows) {
  const hlo::Module module = hlo::parse_text(executable.get_hlo_text());
  std::map<std::string, double> counts;
  for (const hlo::Computation& computation : module.computations) {
    for (const hlo::Instruction& one : computation.instructions) {
      if (!hlo::is_collective(one.opcode)) continue;
      for (const hlo::InstructionId operand : one.operands) {
        const bool stream = tensor::num_elements(computation[operand].shape) == rows * kLength * kWidth;
        counts[std::string(hlo::name(one.opcode)) + (stream ? "" : " of another")] += 1;
      }
    }
  }
  return counts;
}

void expect_same(const std::pair<Array, Layers>& found, const std::pair<Array, Layers>& expected) {
  EXPECT_NEAR(found.first.item<float>(), expected.first.item<float>(), 1e-4 * expected.first.item<float>());
  tree_map2(found.second, expected.second, [](const Array& a, const Array& b) {
    const std::vector<float> have = a.to_vector<float>(), want = b.to_vector<float>();
    double largest = 0, worst = 0;
    for (size_t k = 0; k < want.size(); ++k) {
      largest = std::max(largest, std::abs(static_cast<double>(want[k])));
      worst = std::max(worst, std::abs(static_cast<double>(have[k]) - want[k]));
    }
    EXPECT_LE(worst, 1e-4 * largest + 1e-9);
    return a;
  });
}

TEST_F(TensorParallel, ALayerSumsTwiceForwardAndTwiceBackward) {
  const std::string whole = "(None,None,None)";
  const auto run = parallelize([&](const Layers& l, const Batch& b) { return step(l, b, whole); },
                               {.donate_argnums = std::vector<int>{}, .method = megatron({8}, "x", whole)});
  expect_same(run(some_layers(1), some_batch()), step(some_layers(1), some_batch(), whole));
  EXPECT_THAT(stream_collectives(*run.get_last_executable(), kBatch), ElementsAre(Pair("all-reduce", 4)));
}

TEST_F(TensorParallel, WithTheBatchOnAnotherAxisThereAreTheGradientsOfWhatIsReplicatedAlone) {
  const std::string rows = "(x,None,None)";
  const auto run = parallelize([&](const Layers& l, const Batch& b) { return step(l, b, rows); },
                               {.donate_argnums = std::vector<int>{}, .method = megatron({2, 4}, "y", rows)});
  expect_same(run(some_layers(1), some_batch()), step(some_layers(1), some_batch(), rows));
  // Besides: one sum over the batch's axis for each of the layer's nine parameters, and the loss.
  EXPECT_THAT(stream_collectives(*run.get_last_executable(), kBatch / 2),
              ElementsAre(Pair("all-reduce", 4), Pair("all-reduce of another", 9 + 1)));
}

// Four groups of tokens on four devices, two of the eight experts on each: what is sent to experts and back, forward
// and backward, are the only all-to-alls; the rest is data parallelism.
TEST(ExpertParallel, TokensGoToExpertsAndBackByAllToAll) {
  const ModelFiles files = model_files("moe");
  const compiler::Program program =
      compiler::load_program(read_file(model_folder("moe") + "train_step.hlo.pb.xz"), "moe", files.meta, {});
  compiler::PlanOptions options;
  options.method = compiler::Method::kData;
  options.mesh = mesh::LogicalMesh({4});
  options.num_devices = 4;
  options.cluster = mesh::local_cpu(4);
  options.constraints = {{"*moe.wi", "(x,None,None)"}, {"*moe.wo", "(x,None,None)"}};
  const plan::Plan plan = compiler::plan_program(program, options);
  compiler::Compiled compiled = compiler::compile(program, plan, pjrt::eight_devices(0));
  EXPECT_EQ(compiled.found.at("all-to-all").count, 4);
  EXPECT_EQ(compiled.found.at("all-reduce").count, 1);  // The gradients, combined.
  EXPECT_EQ(compiled.found.size(), 2);
  for (const auto& [kind, total] : compiled.found) EXPECT_EQ(total.count, plan.collectives.at(kind).count) << kind;
  compiled.executable.set_inputs(files.inputs);
  compiled.executable.step();
  compiled.executable.sync();
  const double loss = compiled.executable.output(static_cast<int>(plan.outputs.size()) - 1).at(0);
  EXPECT_NEAR(loss, files.expected.at("loss").at(0), 1e-4 * files.expected.at("loss").at(0));
}

}  // namespace
}  // namespace alpa
