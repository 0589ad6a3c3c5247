// Sums over micro-batches that are communicated once a step, run against the programs that communicate each
// micro-batch. Values are whole numbers, so that results are equal to the bit.

#include <gtest/gtest.h>

#include "alpa/hlo/edit.h"
#include "alpa/passes/defer_sums.h"
#include "alpa/passes/reduce_scatter_forming.h"
#include "forms.h"

namespace alpa::collectives {
namespace {

constexpr int64_t kMicroBatches = 3;
const Shape kWhole = f32({16, 8});

/// What a step's programs are built with: `part`, which each device has another of in each micro-batch, and the sum's
/// reducer. Gives the values that are added to accumulators.
using Addends = std::function<std::vector<InstructionId>(ComputationBuilder&, InstructionId part, ComputationId sum)>;

struct Step {
  Module accumulate, apply;
  int64_t num_accumulators = 0;
};

/// accumulate: (part, flag, accumulators) -> accumulators; apply: accumulators -> each divided by their number.
Step step(const Addends& addends) {
  Step result;
  std::vector<Shape> shapes;
  result.accumulate = hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
    const ComputationId sum = m.reducer(Opcode::kAdd, DType::kF32);
    const InstructionId part = b.parameter(kWhole), flag = b.parameter(Shape(DType::kPred, {}));
    std::vector<InstructionId> sums;
    for (const InstructionId addend : addends(b, part, sum)) {
      const Shape shape = b.shape(addend);
      const InstructionId first = b.with_dimensions(Opcode::kBroadcast, Shape(DType::kPred, shape.dims), {flag}, {});
      const InstructionId zeros = b.with_dimensions(Opcode::kBroadcast, shape, {b.scalar(DType::kF32, 0)}, {});
      const InstructionId before = b.op(Opcode::kSelect, shape, {first, zeros, b.parameter(shape)});
      sums.push_back(b.op(Opcode::kAdd, shape, {before, addend}));
      shapes.push_back(shape);
    }
    return b.tuple(sums);
  });
  std::vector<hlo::Alias> aliases;
  result.num_accumulators = static_cast<int64_t>(shapes.size());
  for (int64_t k = 0; k < result.num_accumulators; ++k) aliases.push_back({.output = k, .parameter = 2 + k});
  hlo::set_input_output_aliases(result.accumulate, aliases);
  result.apply = hlo::program([&](ModuleBuilder&, ComputationBuilder& b) {
    std::vector<InstructionId> means;
    for (const Shape& shape : shapes) {
      const InstructionId count =
          b.with_dimensions(Opcode::kBroadcast, shape, {b.scalar(DType::kF32, kMicroBatches)}, {});
      means.push_back(b.op(Opcode::kDivide, shape, {b.parameter(shape), count}));
    }
    return b.tuple(means);
  });
  return result;
}

Step deferred(const Step& old, std::vector<char> which = {}) {
  which.resize(static_cast<size_t>(old.num_accumulators), which.empty());
  const auto result = passes::defer_sums(old.accumulate, old.apply, {kDevices, kMicroBatches, 1, 0, which});
  return {result.accumulate, result.apply, result.num_accumulators};
}

/// What a step makes of other parts in each micro-batch. The accumulators begin with what is no number of the step.
PerDevice run_step(const Step& step, int plugin) {
  PerDevice inputs = whole_numbers(step.accumulate);
  for (int64_t k = 0; k < kMicroBatches; ++k) {
    for (size_t device = 0; device < inputs.size(); ++device) {
      tensor::Literal& part = inputs[device][0];
      for (int64_t at = 0; at < tensor::num_elements(part.shape()); ++at)
        part.set(at, static_cast<double>((at * 7 + k * 5 + static_cast<int64_t>(device) * 3) % 23 - 11));
      inputs[device][1].set(0, k == 0);
    }
    const PerDevice sums = run(step.accumulate, inputs, plugin);
    for (size_t device = 0; device < inputs.size(); ++device)
      std::copy(sums[device].begin(), sums[device].end(), inputs[device].begin() + 2);
  }
  for (auto& of_device : inputs) of_device.erase(of_device.begin(), of_device.begin() + 2);
  return run(step.apply, inputs, plugin);
}

void expect_same(const Step& before, const Step& after) {
  for (const int plugin : {0, 1})
    EXPECT_EQ(difference(run_step(before, plugin), run_step(after, plugin)), 0) << "plug-in " << plugin;
}

InstructionId all_reduce(ComputationBuilder& b, InstructionId value, const Mesh& mesh, Axes over, ComputationId sum) {
  return b.collective(Opcode::kAllReduce, b.shape(value), {value}, mesh.groups(over), std::nullopt, sum);
}

double count_all(const Module& module) {
  double all = 0;
  for (const auto& [kind, total] : hlo::collectives(module)) all += total.count;
  return all;
}

class DeferSums : public testing::TestWithParam<size_t> {
 protected:
  const Mesh& mesh() const { return kMeshes[GetParam()]; }
};

TEST_P(DeferSums, CommunicateOnceOverEveryGroup) {
  for (Axes over = 1; over <= mesh().all(); ++over) {
    const Step before = step([&](auto& b, InstructionId part, ComputationId sum) {
      const InstructionId reduced = all_reduce(b, part, mesh(), over, sum);
      const InstructionId moved = b.with_dimensions(Opcode::kTranspose, f32({8, 16}), {reduced}, {1, 0});
      const InstructionId two = b.with_dimensions(Opcode::kBroadcast, f32({8, 16}), {b.scalar(DType::kF32, 2)}, {});
      return std::vector{b.op(Opcode::kNegate, f32({8, 16}), {b.op(Opcode::kMultiply, f32({8, 16}), {moved, two})})};
    });
    const Step after = deferred(before);
    EXPECT_EQ(count_all(after.accumulate), 0);
    EXPECT_EQ(count(after.apply, "all-reduce"), 1);
    EXPECT_EQ(bytes(after.apply, "all-reduce"), 16 * 8 * 4);
    expect_same(before, after);
  }
}

// The accumulator is whole then, and what each device keeps is cut at the end.
TEST_P(DeferSums, ScatterOnce) {
  for (Axes over = 1; over <= mesh().all(); ++over) {
    const Step before = step([&](auto& b, InstructionId part, ComputationId sum) {
      const InstructionId kept = sliced(b, mesh(), all_reduce(b, part, mesh(), over, sum), {over, 0});
      return std::vector{b.op(Opcode::kCopy, b.shape(kept), {kept})};
    });
    const Step after = deferred(before);
    EXPECT_EQ(count_all(after.accumulate), 0);
    EXPECT_EQ(hlo::parameters(after.accumulate.entry_computation()).size(), 3u);
    const Module formed = passes::reduce_scatter_forming(after.apply, kDevices);
    EXPECT_EQ(count(formed, "all-reduce"), 0);
    EXPECT_EQ(bytes(formed, "reduce-scatter"), 16 * 8 * 4);
    expect_same(before, after);
  }
}

TEST_P(DeferSums, GatherOnce) {
  const Step before = step([&](auto& b, InstructionId part, ComputationId sum) {
    const InstructionId kept = sliced(b, mesh(), all_reduce(b, part, mesh(), mesh().all(), sum), {mesh().all(), 0});
    return std::vector{b.collective(Opcode::kAllGather, kWhole, {kept}, mesh().groups(mesh().all()), 0)};
  });
  const Step after = deferred(before);
  EXPECT_EQ(count_all(after.accumulate), 0);
  EXPECT_EQ(count_all(after.apply), 2);
  expect_same(before, after);
}

// Terms of several groups, and one that is each device's own.
TEST_P(DeferSums, SumsOfSeveralTerms) {
  const Step before = step([&](auto& b, InstructionId part, ComputationId sum) {
    const InstructionId twice = b.op(Opcode::kAdd, kWhole, {part, part});
    const InstructionId one = all_reduce(b, part, mesh(), 1, sum);
    const InstructionId other = all_reduce(b, twice, mesh(), mesh().all(), sum);
    const InstructionId both = b.op(Opcode::kSubtract, kWhole, {other, one});
    return std::vector{b.op(Opcode::kAdd, kWhole, {b.op(Opcode::kNegate, kWhole, {part}), both})};
  });
  const Step after = deferred(before);
  EXPECT_EQ(count_all(after.accumulate), 0);
  EXPECT_EQ(count_all(after.apply), 2);
  EXPECT_EQ(after.num_accumulators, 3);
  expect_same(before, after);
}

TEST_P(DeferSums, AccumulatorsOfOneSumShareIt) {
  const Step before = step([&](auto& b, InstructionId part, ComputationId sum) {
    const InstructionId all = all_reduce(b, part, mesh(), mesh().all(), sum);
    return std::vector{all, b.op(Opcode::kNegate, kWhole, {all}), part};
  });
  const Step after = deferred(before);
  EXPECT_EQ(count_all(after.accumulate), 0);
  EXPECT_EQ(after.num_accumulators, 2);
  expect_same(before, after);
  const Step one = deferred(before, {true, false, true});  // the all-reduce is needed in each micro-batch
  EXPECT_EQ(count_all(one.accumulate), 1);
  EXPECT_EQ(count_all(one.apply), 0);
  expect_same(before, one);
}

TEST_P(DeferSums, WhatElseIsUsedOrIsNotLinearStays) {
  const Step before = step([&](auto& b, InstructionId part, ComputationId sum) {
    const InstructionId used = all_reduce(b, part, mesh(), mesh().all(), sum);
    const InstructionId squared = all_reduce(b, b.op(Opcode::kNegate, kWhole, {part}), mesh(), 1, sum);
    return std::vector{used, b.op(Opcode::kAbs, kWhole, {used}), b.op(Opcode::kMultiply, kWhole, {squared, squared}),
                       b.op(Opcode::kMultiply, kWhole, {all_reduce(b, squared, mesh(), 1, sum), part})};
  });
  const Step after = deferred(before);
  EXPECT_EQ(count_all(after.accumulate), 3);
  EXPECT_EQ(count_all(after.apply), 0);
  expect_same(before, after);
}

// Some sums are beyond the largest number of f16; the means are not.
TEST_P(DeferSums, NarrowSumsAreKeptInF32) {
  const Shape narrow(DType::kF16, {16, 8});
  const Step before = step([&](auto& b, InstructionId part, ComputationId) {
    const InstructionId large = b.with_dimensions(Opcode::kBroadcast, kWhole, {b.scalar(DType::kF32, 4096)}, {});
    const InstructionId value = b.op(Opcode::kConvert, narrow, {b.op(Opcode::kMultiply, kWhole, {part, large})});
    const InstructionId gathered = b.collective(Opcode::kAllGather, Shape(DType::kF16, {16 * kDevices, 8}), {value},
                                                mesh().groups(mesh().all()), 0);
    return std::vector{b.op(Opcode::kConvert, f32({16 * kDevices, 8}), {gathered})};
  });
  const Step after = deferred(before);
  EXPECT_EQ(count_all(after.accumulate), 0);
  EXPECT_EQ(bytes(after.apply, "all-gather"), 16 * kDevices * 8 * 2);
  const hlo::Computation& entry = after.accumulate.entry_computation();
  EXPECT_EQ(entry[hlo::parameters(entry).back()].shape, kWhole);
  for (const int plugin : {0, 1}) EXPECT_LE(difference(run_step(before, plugin), run_step(after, plugin)), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Meshes, DeferSums, testing::Range(size_t{0}, kMeshes.size()));

}  // namespace
}  // namespace alpa::collectives
