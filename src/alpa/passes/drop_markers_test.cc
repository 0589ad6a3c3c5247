#include "alpa/passes/drop_markers.h"

#include <gtest/gtest.h>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/builder.h"
#include "alpa/hlo/markers.h"
#include "alpa/hlo/verify.h"

namespace alpa::passes {
namespace {

using hlo::ComputationBuilder;
using hlo::InstructionId;
using hlo::Module;
using tensor::DType;
using tensor::Shape;

const Shape kScalar(DType::kF32, {});
const Shape kVector(DType::kF32, {8});

// A marker of the given result over a scalar and a vector, or over the scalar alone.
Module marked(const Shape& result, int operands) {
  hlo::ModuleBuilder module("marked");
  ComputationBuilder b("main");
  std::vector<InstructionId> values{b.parameter(kScalar)};
  if (operands == 2) values.push_back(b.parameter(kVector));
  if (operands == 0) values.clear();
  const InstructionId root = b.custom_call(result, values, hlo::kGradientMarker);
  return std::move(module).build(std::move(b).build(root));
}

TEST(DropMarkers, AMarkerOverSeveralValuesBecomesTheirTuple) {
  const Module dropped = drop_markers(marked(Shape::tuple({kScalar, kVector}), 2));
  hlo::verify(dropped);
  const hlo::Computation& entry = dropped.entry_computation();
  EXPECT_EQ(entry[entry.root].opcode, hlo::Opcode::kTuple);
}

// Through a tuple that stays, what the one follows from would seem to be what the other follows from.
TEST(DropMarkers, WhatIsTakenOutOfAMarkerIsItsOperand) {
  hlo::ModuleBuilder module("marked");
  ComputationBuilder b("main");
  const InstructionId marker = b.custom_call(Shape::tuple({kScalar, kVector}),
                                             {b.parameter(kScalar), b.parameter(kVector)}, hlo::kGradientMarker);
  const InstructionId root = b.tuple({b.get_tuple_element(marker, 1), b.get_tuple_element(marker, 0)});
  const Module dropped = drop_markers(std::move(module).build(std::move(b).build(root)));
  hlo::verify(dropped);
  const hlo::Computation& entry = dropped.entry_computation();
  EXPECT_EQ(entry.size(), 3);
  for (const int k : {0, 1})
    EXPECT_EQ(hlo::parameter_number(entry[entry[entry.root].operands[static_cast<size_t>(k)]]), 1 - k);
}

TEST(DropMarkers, AMarkerOverOneArrayVanishes) {
  const Module dropped = drop_markers(marked(kScalar, 1));
  EXPECT_EQ(dropped.entry_computation().size(), 1);
}

TEST(DropMarkers, RejectsAMarkerThatIsNoIdentity) {
  EXPECT_THROW(drop_markers(marked(Shape::tuple({kScalar, kScalar}), 2)), InvalidArgumentError);
  EXPECT_THROW(drop_markers(marked(Shape::tuple({kScalar, kVector, kVector}), 2)), InvalidArgumentError);
  EXPECT_THROW(drop_markers(marked(kVector, 1)), InvalidArgumentError);
  EXPECT_THROW(drop_markers(marked(kScalar, 0)), InvalidArgumentError);
}

TEST(DropMarkers, HintsForPropagationVanishAndOtherCallsStay) {
  for (const auto& [target, size] : {std::pair("Sharding", 2), std::pair("xla.sdy.FuncResultSharding", 1),
                                     std::pair("SPMDFullToShardShape", 2), std::pair("Eigh", 2)}) {
    hlo::ModuleBuilder module("hinted");
    ComputationBuilder b("main");
    const InstructionId root = b.custom_call(kVector, {b.parameter(kVector)}, target);
    const Module dropped = drop_markers(std::move(module).build(std::move(b).build(root)));
    EXPECT_EQ(dropped.entry_computation().size(), size) << target;
  }
}

}  // namespace
}  // namespace alpa::passes
