#include "alpa/planner/intra/predicted_parts.h"

#include <gtest/gtest.h>

#include "alpa/planner/intra/device_memory.h"

namespace alpa::planner {
namespace {

using hlo::Opcode;

constexpr int64_t kBytes = 64;  // Of each array; a device keeps an eighth of the sum.
const mesh::LogicalMesh kMesh({8});

StepResult made(Opcode opcode, int64_t bytes) { return {opcode, bytes, bytes / 4, 0, -1}; }

// w, x, first, sum -> w - mean of the gradient of w, which is part of all devices' batches; 4 micro-batches.
struct Step {
  PredictedProgram program{kMesh};
  ProgramFrame frame;
  std::vector<int32_t> held;

  explicit Step(bool used_twice = false) {
    for (const int64_t bytes : {kBytes / 8, kBytes, int64_t{1}, kBytes / 8})
      frame.inputs.push_back(program.add_step(StepRole::kOther, {}, {}, made(Opcode::kParameter, bytes)));
    const int32_t part = program.add_step(StepRole::kOther, {frame.inputs[1]}, {}, made(Opcode::kDot, kBytes));
    PredictedCollective sum{Opcode::kAllReduce, kBytes, {0}, "f32 add", true, 4, 0};
    const int32_t all = program.add_collective(sum, part, made(Opcode::kDot, kBytes));
    const int32_t gradient = program.add_slice(all, 0, {0}, made(Opcode::kDynamicSlice, kBytes / 8));
    const int32_t before =
        program.add_step(StepRole::kOther, {frame.inputs[2], frame.inputs[3]}, {}, made(Opcode::kSelect, kBytes / 8));
    const int32_t after = program.add_step(StepRole::kSum, {before, gradient}, {0, 1}, made(Opcode::kAdd, kBytes / 8));
    program.add_accumulation(after, kBytes / 8);
    const int32_t updated =
        program.add_step(StepRole::kOther, {frame.inputs[0], after}, {}, made(Opcode::kSubtract, kBytes / 8));
    const int32_t latest =
        program.add_step(StepRole::kMove, {used_twice ? all : frame.inputs[1]}, {0}, made(Opcode::kNegate, kBytes));
    frame.num_computations = 1;
    frame.outputs = held = {updated, after, latest};
    frame.aliases = {{0, 0}, {1, 3}};
    for (const int32_t output : held) program.use(output);
  }

  PredictedParts parts(bool deferred) {
    PredictedParts result = predicted_parts({program, frame, held, {4, 2, 1, 1}}, {static_cast<char>(deferred)});
    result.accumulate.program.run_passes();
    result.apply.program.run_passes();
    return result;
  }
};

using Totals = std::map<std::string, plan::CollectiveCount>;

TEST(PredictedParts, EachHasWhatItNeeds) {
  const PredictedParts parts = Step().parts(false);
  EXPECT_EQ(parts.accumulate.program.totals(), (Totals{{"reduce-scatter", {4, 4 * kBytes}}}));
  EXPECT_TRUE(parts.apply.program.totals().empty());
  EXPECT_EQ(parts.accumulate.step_inputs, std::vector<size_t>{1});
  EXPECT_EQ(parts.apply.step_inputs, std::vector<size_t>{0});
  const auto memory = [](const PredictedPart& part) {
    return memory_of(build_device_program(part.program, part.frame));
  };
  EXPECT_EQ(memory(parts.accumulate).argument_bytes, kBytes + 1 + kBytes / 8);
  EXPECT_EQ(memory(parts.accumulate).output_bytes, kBytes);
  EXPECT_EQ(memory(parts.apply).argument_bytes, kBytes / 8 + kBytes / 8 + kBytes);
  EXPECT_EQ(memory(parts.apply).output_bytes, 0);
}

TEST(PredictedParts, SumsThatWaitAreCommunicatedOnce) {
  const PredictedParts parts = Step().parts(true);
  EXPECT_TRUE(parts.accumulate.program.totals().empty());
  EXPECT_EQ(parts.apply.program.totals(), (Totals{{"reduce-scatter", {1, kBytes}}}));
  const DeviceMemory accumulate = memory_of(build_device_program(parts.accumulate.program, parts.accumulate.frame));
  const DeviceMemory apply = memory_of(build_device_program(parts.apply.program, parts.apply.frame));
  EXPECT_EQ(accumulate.argument_bytes, kBytes + 1 + kBytes);  // the accumulator is whole
  EXPECT_EQ(apply.argument_bytes, kBytes / 8 + kBytes + kBytes);
  EXPECT_EQ(apply.temp_bytes, kBytes / 8);  // what the device keeps of the sum
}

TEST(PredictedParts, WhatAMicroBatchNeedsDoesNotWait) {
  const PredictedParts parts = Step(true).parts(true);
  EXPECT_EQ(parts.accumulate.program.totals(), (Totals{{"all-reduce", {4, 4 * kBytes}}}));
  EXPECT_TRUE(parts.apply.program.totals().empty());
}

}  // namespace
}  // namespace alpa::planner
