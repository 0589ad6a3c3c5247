#include "alpa/hlo/rewrite.h"

#include <gtest/gtest.h>

#include "alpa/hlo/edit.h"
#include "alpa/hlo/testing/programs.h"
#include "alpa/hlo/verify.h"

namespace alpa::hlo {
namespace {

Module chain() {
  return program([](ModuleBuilder&, ComputationBuilder& b) {
    const InstructionId x = b.parameter(f32({4}));
    const InstructionId minus = b.op(Opcode::kNegate, f32({4}), {x});
    return b.op(Opcode::kAdd, f32({4}), {minus, minus});
  });
}

TEST(Rewrite, MovesUsesAndPutsOperandsFirst) {
  const Module after = rewrite_computations(chain(), [](Rewrite& rewrite, FreshNames& names) {
    EXPECT_EQ(rewrite.use_count(1), 2);
    EXPECT_EQ(rewrite.users(1), std::vector<InstructionId>{2});
    const InstructionId exp = rewrite.add(make_instruction(Opcode::kExp, names.name("exp"), f32({4}), {1}));
    rewrite.replace_uses(1, exp);
    EXPECT_EQ(rewrite.use_count(1), 1);
  });
  verify(after);
  const Computation& entry = after.entry_computation();
  ASSERT_EQ(entry.size(), 4);
  EXPECT_EQ(entry[2].opcode, Opcode::kExp);
  EXPECT_EQ(entry[entry.root].operands, (std::vector<InstructionId>{2, 2}));
}

TEST(Rewrite, LeavesOutWhatNothingUses) {
  const Module after = rewrite_computations(chain(), [](Rewrite& rewrite, FreshNames&) { rewrite.replace_uses(2, 0); });
  EXPECT_EQ(after.entry_computation().size(), 1);
  EXPECT_EQ(after.entry_computation().root, 0);
}

TEST(FreshNames, GiveNoNameTwice) {
  Module module = chain();
  module.entry_computation()[1].name = "sum.1";
  FreshNames names(module);
  EXPECT_EQ(names.name("sum"), "sum.2");
  EXPECT_EQ(names.name("sum"), "sum.3");
  EXPECT_EQ(names.channel(), 1);
  EXPECT_EQ(names.channel(), 2);
}

}  // namespace
}  // namespace alpa::hlo
