#include "alpa/passes/rematerialize.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/hlo/forward_pass.h"
#include "alpa/hlo/testing/programs.h"
#include "alpa/hlo/verify.h"

namespace alpa::passes {
namespace {

using hlo::ComputationBuilder;
using hlo::f32;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::ModuleBuilder;
using hlo::Opcode;

// y_k = tanh(y_k-1), loss = sum of y_n, and the derivative by x: the backward pass reads every y_k.
hlo::Module chain(int length) {
  return hlo::program([&](ModuleBuilder& module, ComputationBuilder& b) {
    const tensor::Shape shape = f32({8, 4});
    std::vector<InstructionId> values = {b.parameter(shape)};
    for (int k = 0; k < length; ++k) values.push_back(b.op(Opcode::kTanh, shape, {values.back()}));
    const auto add = module.reducer(Opcode::kAdd, tensor::DType::kF32);
    const InstructionId zero = b.scalar(tensor::DType::kF32, 0);
    const InstructionId loss = b.with_dimensions(Opcode::kReduce, f32({}), {values.back(), zero}, {0, 1}, {add});
    InstructionId cotangent = values.back();  // of the square of y_n
    for (int k = length; k > 0; --k)
      cotangent = b.op(Opcode::kMultiply, shape, {cotangent, values[static_cast<size_t>(k)]});
    return b.tuple({cotangent, loss});
  });
}

const Instruction* find(const hlo::Computation& entry, const std::string& name) {
  for (const Instruction& one : entry.instructions) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

std::vector<std::string> tanhs(const hlo::Module& module) {
  std::vector<std::string> names;
  for (const Instruction& one : module.entry_computation().instructions) {
    if (one.opcode == Opcode::kTanh) names.push_back(one.name);
  }
  return names;
}

int64_t count(const hlo::Module& module, Opcode opcode) {
  const auto& all = module.entry_computation().instructions;
  return std::count_if(all.begin(), all.end(), [&](const Instruction& one) { return one.opcode == opcode; });
}

TEST(Rematerialize, AValueIsMadeAgainForTheBackwardPassFromWhatIsKept) {
  const hlo::Module module = chain(4);
  const std::vector<std::string> names = tanhs(module);
  const hlo::Module again = rematerialize(module, {names[1]});
  hlo::verify(again);
  const hlo::Computation& entry = again.entry_computation();
  const Instruction* clone = find(entry, names[1] + ".remat.1");
  ASSERT_NE(clone, nullptr);
  EXPECT_EQ(clone->opcode, Opcode::kTanh);
  const Instruction& read = entry[clone->operands[0]];  // an element of a barrier, which holds y_1 and a cotangent
  ASSERT_EQ(read.opcode, Opcode::kGetTupleElement);
  const Instruction& barrier = entry[read.operands[0]];
  ASSERT_EQ(barrier.opcode, Opcode::kOptimizationBarrier);
  const Instruction& kept = entry[barrier.operands[0]];
  ASSERT_EQ(kept.operands.size(), 2u);
  EXPECT_EQ(entry[kept.operands[0]].name, names[0]);
  EXPECT_EQ(entry[kept.operands[1]].opcode, Opcode::kMultiply);
}

TEST(Rematerialize, NeighboursAreMadeFromEachOther) {
  const hlo::Module module = chain(6);
  const std::vector<std::string> names = tanhs(module);
  const hlo::Module again = rematerialize(module, {names[1], names[2], names[3]});
  EXPECT_EQ(count(again, Opcode::kTanh), 9);
  EXPECT_EQ(count(again, Opcode::kOptimizationBarrier), 1);
}

TEST(Rematerialize, NoNamesNoChange) {
  const hlo::Module module = chain(3);
  EXPECT_EQ(hlo::instruction_count(rematerialize(module, {})), hlo::instruction_count(module));
}

TEST(Rematerialize, RefusesNamesThatAreNotThereOrNotOfTheForwardPass) {
  const hlo::Module module = chain(3);
  EXPECT_THROW(rematerialize(module, {"nowhere"}), InvalidArgumentError);
  const hlo::Computation& entry = module.entry_computation();
  EXPECT_THROW(rematerialize(module, {entry[hlo::parameters(entry)[0]].name}), InvalidArgumentError);
  for (const Instruction& one : entry.instructions) {
    if (one.opcode != Opcode::kMultiply) continue;
    EXPECT_THROW(rematerialize(module, {one.name}), InvalidArgumentError);
  }
}

TEST(ForwardPass, EndsWhereMostBytesWait) {
  const hlo::Module module = chain(5);
  const auto forward = hlo::forward_pass(module);
  ASSERT_TRUE(forward.has_value());
  EXPECT_EQ(module.entry_computation()[forward->end].opcode, Opcode::kTanh);
  for (InstructionId id = 0; id < module.entry_computation().size(); ++id) {
    const Opcode opcode = module.entry_computation()[id].opcode;
    if (opcode != Opcode::kMultiply && opcode != Opcode::kTanh) continue;
    EXPECT_EQ(forward->is_backward(id), opcode == Opcode::kMultiply);
  }
}

TEST(ForwardPass, IsNotThereWhereNothingWaits) {
  const hlo::Module module = hlo::program(
      [](ModuleBuilder&, ComputationBuilder& b) { return b.op(Opcode::kTanh, f32({4}), {b.parameter(f32({4}))}); });
  EXPECT_FALSE(hlo::forward_pass(module).has_value());
}

}  // namespace
}  // namespace alpa::passes
