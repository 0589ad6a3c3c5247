#include "alpa/passes/sharding_constraints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alpa/base/error.h"
#include "alpa/hlo/builder.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/markers.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/hlo/sharding_constraint.h"
#include "alpa/hlo/text.h"
#include "alpa/hlo/verify.h"
#include "alpa/sharding/spec.h"

namespace alpa::passes {
namespace {

using hlo::Module;
using testing::ElementsAre;
using testing::IsEmpty;

const tensor::Shape kMatrix(tensor::DType::kF32, {8, 16});

// A call over a matrix, which `change` may change.
template <typename Change>
Module called(const std::string& target, const std::string& config, const Change& change) {
  hlo::ModuleBuilder module("called");
  hlo::ComputationBuilder b("main");
  Module result =
      std::move(module).build(std::move(b).build(b.custom_call(kMatrix, {b.parameter(kMatrix)}, target, config)));
  change(result.computations[0].instructions[1]);
  return result;
}

Module called(const std::string& target, const std::string& config = {}) {
  return called(target, config, [](hlo::Instruction&) {});
}

sharding::OpSharding rows() {
  const mesh::LogicalMesh mesh({2, 4});
  return sharding::to_op_sharding(sharding::parse_spec("(x,None)", mesh, 2), mesh);
}

hlo::ShardingConstraint constraint_of(const Module& module) {
  const hlo::Computation& entry = module.entry_computation();
  const auto constraint = hlo::sharding_constraint(entry[entry.root]);
  EXPECT_TRUE(constraint.has_value());
  return constraint.value_or(hlo::ShardingConstraint{});
}

TEST(ShardingConstraints, TheLibrarysCallBecomesACopyThatSaysTheSame) {
  const Module module = sharding_constraints(called(hlo::kShardingConstraint, "(x,?)"));
  hlo::verify(module);
  EXPECT_EQ(constraint_of(module).spec, "(x,?)");
  EXPECT_EQ(constraint_of(hlo::read_module(hlo::write_module(module))).spec, "(x,?)");
  EXPECT_EQ(constraint_of(hlo::parse_text(hlo::to_text(module))).spec, "(x,?)");
}

TEST(ShardingConstraints, AnExportedCallKeepsItsTiles) {
  const Module module =
      sharding_constraints(called("Sharding", {}, [](hlo::Instruction& call) { hlo::set_sharding(call, rows()); }));
  hlo::verify(module);
  EXPECT_EQ(constraint_of(module).tiles, rows());
  EXPECT_THAT(constraint_of(module).open_dims, IsEmpty());
}

TEST(ShardingConstraints, DimsThatTheCallLeavesOpenStayOpen) {
  const auto set = [](hlo::Instruction& call) { hlo::set_sharding(call, rows()); };
  EXPECT_THAT(constraint_of(sharding_constraints(called("Sharding", "unspecified_dims=[0,1]", set))).open_dims,
              ElementsAre(0, 1));
  const auto shardy = [](hlo::Instruction& call) {
    hlo::set_sharding(call, rows());
    hlo::set_frontend_attribute(call, "xla.sdy.sharding", R"(#sdy.sharding_per_value<[<@mesh, [{"a"}, {?}]>]>)");
  };
  EXPECT_THAT(constraint_of(sharding_constraints(called("Sharding", {}, shardy))).open_dims, ElementsAre(1));
}

TEST(ShardingConstraints, ACallWithoutAPlacementGoesAway) {
  for (const auto type : {sharding::OpSharding::Type::kUnknown, sharding::OpSharding::Type::kManual}) {
    const Module module = sharding_constraints(called("Sharding", {}, [&](hlo::Instruction& call) {
      sharding::OpSharding sharding;
      sharding.type = type;
      hlo::set_sharding(call, sharding);
    }));
    EXPECT_EQ(module.entry_computation().size(), 1);
  }
  EXPECT_EQ(sharding_constraints(called("Sharding")).entry_computation().size(), 1);
}

TEST(ShardingConstraints, OnOneDeviceTheCopiesGoAway) {
  const Module module = sharding_constraints(called(hlo::kShardingConstraint, "(x,None)"));
  EXPECT_EQ(without_sharding_constraints(module).entry_computation().size(), 1);
}

TEST(ShardingConstraints, OtherCallsAndCopiesStay) {
  const Module module = called("Eigh");
  EXPECT_EQ(hlo::write_module(sharding_constraints(module)), hlo::write_module(module));
  EXPECT_EQ(hlo::write_module(without_sharding_constraints(module)), hlo::write_module(module));
}

TEST(ShardingConstraints, RejectsWhatIsNoIdentityOfAnArray) {
  hlo::ModuleBuilder module("called");
  hlo::ComputationBuilder b("main");
  const auto whole = b.parameter(kMatrix);
  const auto root = b.custom_call(tensor::Shape(tensor::DType::kF32, {8}), {whole}, "Sharding");
  EXPECT_THROW(sharding_constraints(std::move(module).build(std::move(b).build(root))), InvalidArgumentError);
  const auto open = [](hlo::Instruction& call) { hlo::set_sharding(call, rows()); };
  EXPECT_THROW(sharding_constraints(called("Sharding", "unspecified_dims=[2]", open)), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa::passes
