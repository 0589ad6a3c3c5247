#include "alpa/passes/explicit_bounds.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "alpa/hlo/builder.h"
#include "alpa/hlo/verify.h"

namespace alpa::passes {
namespace {

using hlo::ComputationBuilder;
using hlo::InstructionId;
using hlo::Module;
using hlo::Opcode;
using tensor::DType;
using tensor::Shape;

Shape f32(std::vector<int64_t> dims) { return Shape(DType::kF32, std::move(dims)); }

int64_t count(const Module& module, Opcode opcode) {
  const auto& instructions = module.entry_computation().instructions;
  return std::count_if(instructions.begin(), instructions.end(), [&](const auto& one) { return one.opcode == opcode; });
}

// Reads [8, 16] of [16, 16] at rows `start`, or at a row that is a parameter of this type.
Module slice_at(std::optional<double> start, DType dtype = DType::kS32) {
  hlo::ModuleBuilder module("slice");
  ComputationBuilder b("main");
  const InstructionId x = b.parameter(f32({16, 16}));
  const InstructionId row = start ? b.scalar(dtype, *start) : b.parameter(Shape(dtype, {}));
  const InstructionId root = b.dynamic_slice(f32({8, 16}), {x, row, b.scalar(dtype, 0)});
  return std::move(module).build(std::move(b).build(root));
}

TEST(ExplicitBounds, AStartIsClampedOnceAndNotWhereItIsKnownToBeInside) {
  for (const DType dtype : {DType::kS32, DType::kU8, DType::kS8, DType::kS64, DType::kU32}) {
    const Module bounded = explicit_bounds(slice_at(std::nullopt, dtype), 1);
    hlo::verify(bounded);
    EXPECT_EQ(count(bounded, Opcode::kMinimum), 1);
    EXPECT_EQ(count(bounded, Opcode::kMaximum), 1);
  }
  EXPECT_EQ(count(explicit_bounds(slice_at(8), 1), Opcode::kMinimum), 0);
  EXPECT_EQ(count(explicit_bounds(slice_at(9), 1), Opcode::kMinimum), 1);
  EXPECT_EQ(count(explicit_bounds(slice_at(-1), 1), Opcode::kMinimum), 1);
}

// Rows of [16, 8] by `indices` indices, read and written back.
Module rows(int64_t indices) {
  hlo::ModuleBuilder module("rows");
  const auto combiner = module.reducer(Opcode::kAdd, DType::kF32);
  ComputationBuilder b("main");
  const InstructionId x = b.parameter(f32({16, 8}));
  const InstructionId at = b.parameter(Shape(DType::kS32, {indices, 1}));
  const InstructionId twice = b.op(Opcode::kAdd, f32({16, 8}), {x, x});
  const InstructionId read = b.gather(f32({indices, 8}), twice, at, {{1}, {0}, {0}, {}, {}, {1, 8}, 1});
  const InstructionId root = b.scatter(twice, at, read, {{1}, {0}, {0}, {}, {}, 1}, combiner);
  return std::move(module).build(std::move(b).build(root));
}

TEST(ExplicitBounds, GathersAndScattersOfMoreIndicesThanDevicesStayAsTheyAre) {
  const Module few = explicit_bounds(rows(8), 8);
  hlo::verify(few);
  EXPECT_EQ(count(few, Opcode::kMinimum), 1);
  EXPECT_EQ(count(few, Opcode::kOptimizationBarrier), 1);
  const Module many = explicit_bounds(rows(8), 4);
  EXPECT_EQ(many.entry_computation().size(), rows(8).entry_computation().size());
}

}  // namespace
}  // namespace alpa::passes
