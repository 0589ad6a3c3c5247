#include "alpa/passes/run_pass.h"

#include <gtest/gtest.h>

#include "alpa/base/error.h"
#include "alpa/hlo/builder.h"

namespace alpa::passes {
namespace {

using tensor::DType;
using tensor::Shape;

hlo::Module example() {
  hlo::ComputationBuilder main("main");
  const hlo::InstructionId x = main.parameter(Shape(DType::kF32, {8}));
  return hlo::ModuleBuilder("example").build(
      std::move(main).build(main.op(hlo::Opcode::kNegate, Shape(DType::kF32, {8}), {x})));
}

TEST(RunPass, ShowsWhatThePassGave) {
  std::vector<PassRecord> records;
  const auto observer = [&](const PassRecord& record, const hlo::Module& after) {
    records.push_back(record);
    EXPECT_EQ(after.name, "renamed");
  };
  const auto rename = [](const hlo::Module& module) {
    hlo::Module result = module;
    result.name = "renamed";
    return result;
  };
  EXPECT_EQ(run_pass("rename", example(), rename, observer).name, "renamed");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].name, "rename");
  EXPECT_GE(records[0].seconds, 0);
  EXPECT_EQ(records[0].instructions_before, 2);
  EXPECT_EQ(records[0].instructions_after, 2);
}

TEST(RunPass, APassThatBreaksTheProgramIsAFaultOfOurs) {
  const auto widen = [](const hlo::Module& module) {
    hlo::Module result = module;
    result.entry_computation()[1].shape = Shape(DType::kF32, {9});
    return result;
  };
  try {
    run_pass("widen", example(), widen, {});
    FAIL() << "no error";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("pass widen"), std::string::npos) << error.what();
  }
}

TEST(RunPass, ErrorsOfThePassAreItsOwn) {
  const auto refuse = [](const hlo::Module&) -> hlo::Module { raise<UnsupportedError>("pass", "not this"); };
  EXPECT_THROW(run_pass("refuse", example(), refuse, {}), UnsupportedError);
}

}  // namespace
}  // namespace alpa::passes
