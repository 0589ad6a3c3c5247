#include "alpa/passes/ordered_reductions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "alpa/hlo/builder.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/verify.h"

namespace alpa::passes {
namespace {

using hlo::InstructionId;
using hlo::Module;
using hlo::Opcode;
using tensor::DType;
using tensor::Shape;

// Reduces rows of an array that is divided by columns, or by rows.
Module reduction(Opcode opcode, DType dtype, bool along_divided) {
  hlo::ModuleBuilder module("reduction");
  const auto reducer = module.reducer(opcode, dtype);
  hlo::ComputationBuilder b("main");
  const InstructionId x = b.parameter(Shape(dtype, {16, 8}));
  const InstructionId root =
      b.with_dimensions(Opcode::kReduce, Shape(dtype, {16}), {x, b.scalar(dtype, 0)}, {1}, {reducer});
  hlo::Computation entry = std::move(b).build(root);
  sharding::OpSharding divided;
  divided.type = sharding::OpSharding::Type::kOther;
  divided.tile_dims = along_divided ? std::vector<int64_t>{1, 8} : std::vector<int64_t>{8, 1};
  divided.devices = {0, 1, 2, 3, 4, 5, 6, 7};
  hlo::set_sharding(entry[x], divided);
  return std::move(module).build(std::move(entry));
}

bool changed(Opcode opcode, DType dtype, bool along_divided) {
  const Module module = ordered_reductions(reduction(opcode, dtype, along_divided));
  hlo::verify(module);
  const hlo::Computation& entry = module.entry_computation();
  EXPECT_EQ(entry[entry.root].shape, Shape(dtype, {16}));
  return entry[entry.root].opcode == Opcode::kBitcastConvert;
}

TEST(OrderedReductions, OnlyExtremaOfFloatsAlongADividedDimAreTakenOverIntegers) {
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    EXPECT_TRUE(changed(Opcode::kMaximum, dtype, true));
    EXPECT_TRUE(changed(Opcode::kMinimum, dtype, true));
    EXPECT_FALSE(changed(Opcode::kMaximum, dtype, false));
    EXPECT_FALSE(changed(Opcode::kAdd, dtype, true));
  }
  EXPECT_FALSE(changed(Opcode::kMaximum, DType::kS32, true));
}

}  // namespace
}  // namespace alpa::passes
