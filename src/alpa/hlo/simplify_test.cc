#include "alpa/hlo/simplify.h"

#include <gtest/gtest.h>

#include "alpa/hlo/builder.h"
#include "alpa/hlo/verify.h"

namespace alpa::hlo {
namespace {

using tensor::DType;
using tensor::Shape;

TEST(Simplify, DropsDeadCodeAndMergesEqualInstructions) {
  ModuleBuilder module("m");
  const ComputationId sum = module.reducer(Opcode::kAdd, DType::kF32);
  const ComputationId same = module.reducer(Opcode::kAdd, DType::kF32);
  ComputationBuilder b("main");
  const Shape vector(DType::kF32, {8}), scalar(DType::kF32, {});
  const InstructionId x = b.parameter(vector), unused = b.parameter(vector);
  const InstructionId one = b.op(Opcode::kExp, vector, {x}), two = b.op(Opcode::kExp, vector, {x});
  b.op(Opcode::kTanh, vector, {unused});
  const InstructionId zero = b.scalar(DType::kF32, 0), other_zero = b.scalar(DType::kF32, 0);
  const InstructionId first = b.with_dimensions(Opcode::kReduce, scalar, {one, zero}, {0}, {sum});
  const InstructionId second = b.with_dimensions(Opcode::kReduce, scalar, {two, other_zero}, {0}, {same});
  const InstructionId root = b.tuple({first, second, b.op(Opcode::kLog, scalar, {second})});
  const Module before = std::move(module).build(std::move(b).build(root));
  const Module after = simplify_entry(before);
  verify(after);
  // Two parameters, exp, zero, reduce, log, tuple.
  EXPECT_EQ(after.entry_computation().size(), 7);
  EXPECT_EQ(after.computations.size(), 2u);
}

TEST(Simplify, KeepsInstructionsThatDifferInAnAttribute) {
  ModuleBuilder module("m");
  ComputationBuilder b("main");
  const Shape square(DType::kF32, {4, 4});
  const InstructionId x = b.parameter(square);
  const InstructionId a = b.with_dimensions(Opcode::kReverse, square, {x}, {0});
  const InstructionId c = b.with_dimensions(Opcode::kReverse, square, {x}, {1});
  const InstructionId root = b.op(Opcode::kAdd, square, {a, c});
  const Module after = simplify_entry(std::move(module).build(std::move(b).build(root)));
  EXPECT_EQ(after.entry_computation().size(), 4);
}

}  // namespace
}  // namespace alpa::hlo
