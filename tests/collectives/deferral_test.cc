// Sums over micro-batches that are communicated once a step, run against the programs that communicate each
// micro-batch.

#include <gtest/gtest.h>

#include "accumulated_step.h"
#include "alpa/passes/reduce_scatter_forming.h"

namespace alpa::collectives {
namespace {

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
