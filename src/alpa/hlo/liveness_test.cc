#include "alpa/hlo/liveness.h"

#include <gtest/gtest.h>

#include "alpa/hlo/builder.h"

namespace alpa::hlo {
namespace {

using tensor::DType;
using tensor::Shape;

const Shape kArray(DType::kF32, {256});  // 1 KiB

TEST(Liveness, FreesAValueAfterItsLastUse) {
  ComputationBuilder b("main");
  const InstructionId x = b.parameter(kArray);
  const InstructionId first = b.op(Opcode::kNegate, kArray, {x});
  const InstructionId second = b.op(Opcode::kNegate, kArray, {first});
  const InstructionId third = b.op(Opcode::kNegate, kArray, {second});
  const Module module = ModuleBuilder("chain").build(std::move(b).build(third));
  const Liveness result = liveness(module, module.entry_computation());
  EXPECT_EQ(result.last_use, (std::vector<InstructionId>{4, second, third, 4}));
  EXPECT_EQ(result.parameter_bytes, 1024);
  EXPECT_EQ(result.peak_bytes, 3 * 1024);
  EXPECT_EQ(result.peak_at, second);
}

TEST(Liveness, TuplesKeepJustTheElementsThatAreRead) {
  ComputationBuilder b("main");
  const InstructionId x = b.parameter(kArray);
  const InstructionId dropped = b.op(Opcode::kNegate, kArray, {x});
  const InstructionId kept = b.op(Opcode::kNegate, kArray, {x});
  const InstructionId tuple = b.tuple({dropped, kept});
  const InstructionId element = b.get_tuple_element(tuple, 1);
  const InstructionId root = b.op(Opcode::kNegate, kArray, {element});
  const Module module = ModuleBuilder("tuple").build(std::move(b).build(root));
  const Liveness result = liveness(module, module.entry_computation());
  EXPECT_EQ(result.last_use[static_cast<size_t>(dropped)], dropped);
  EXPECT_EQ(result.last_use[static_cast<size_t>(kept)], root);
  EXPECT_EQ(result.peak_bytes, 3 * 1024);
}

TEST(Liveness, CountsWhatACalleeNeeds) {
  ModuleBuilder module("call");
  ComputationBuilder inner("inner");
  const InstructionId p = inner.parameter(kArray);
  const InstructionId large = inner.with_dimensions(Opcode::kBroadcast, Shape(DType::kF32, {4, 256}), {p}, {1});
  const InstructionId back = inner.slice(Shape(DType::kF32, {1, 256}), large, {{0, 1, 1}, {0, 256, 1}});
  const ComputationId callee = module.add(std::move(inner).build(inner.op(Opcode::kReshape, kArray, {back})));
  ComputationBuilder b("main");
  const InstructionId x = b.parameter(kArray);
  const InstructionId call = b.calling(Opcode::kCall, kArray, {x}, {callee});
  const Module built = std::move(module).build(std::move(b).build(call));
  const Liveness result = liveness(built, built.entry_computation());
  EXPECT_EQ(result.peak_at, call);
  EXPECT_EQ(result.peak_bytes, 1024 + 1024 + (4 + 1) * 1024);
}

}  // namespace
}  // namespace alpa::hlo
