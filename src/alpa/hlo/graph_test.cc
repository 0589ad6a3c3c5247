// Trip counts, inlining, FLOP and collectives on programs worked out by hand.
#include <gtest/gtest.h>

#include "alpa/hlo/collectives.h"
#include "alpa/hlo/flops.h"
#include "alpa/hlo/inline_calls.h"
#include "alpa/hlo/testing/programs.h"
#include "alpa/hlo/trip_count.h"
#include "alpa/hlo/verify.h"

namespace alpa::hlo {
namespace {

std::optional<int64_t> trips(const Loop& loop) {
  const Module module = program([&](ModuleBuilder& m, ComputationBuilder& b) {
    return add_loop(m, b, loop, [](ComputationBuilder&, InstructionId x) { return x; });
  });
  const Computation& entry = module.entry_computation();
  return trip_count(module, entry, entry[entry.root]);
}

TEST(TripCount, CountsUpAndDownToABound) {
  EXPECT_EQ(trips({0, 1, 10, "LT"}), 10);
  EXPECT_EQ(trips({0, 1, 10, "LE"}), 11);
  EXPECT_EQ(trips({0, 3, 10, "LT"}), 4);
  EXPECT_EQ(trips({10, -1, 0, "GT"}), 10);
  EXPECT_EQ(trips({10, -2, 0, "GE"}), 6);
  EXPECT_EQ(trips({5, 1, 5, "LT"}), 0);
}

TEST(TripCount, KnowsNothingOfLoopsThatDoNotCountThere) {
  EXPECT_EQ(trips({0, 0, 10, "LT"}), std::nullopt);
  EXPECT_EQ(trips({0, -1, 10, "LT"}), std::nullopt);
  EXPECT_EQ(trips({0, 1, 10, "NE"}), std::nullopt);
}

TEST(TripCount, LooksThroughAConstantOnTheLeft) {
  const Module module = program([&](ModuleBuilder& m, ComputationBuilder& b) {
    const Shape state = Shape::tuple({s32({})});
    const ComputationId body = unary(m, "body", state, [](ComputationBuilder& c, InstructionId p) {
      const InstructionId one = c.scalar(DType::kS32, 1);
      return c.tuple({c.op(Opcode::kAdd, s32({}), {one, c.get_tuple_element(p, 0)})});
    });
    const ComputationId condition = unary(m, "condition", state, [](ComputationBuilder& c, InstructionId p) {
      const InstructionId limit = c.scalar(DType::kS32, 7);
      return c.compare("GT", limit, c.get_tuple_element(p, 0));
    });
    return b.calling(Opcode::kWhile, state, {b.tuple({b.scalar(DType::kS32, 0)})}, {body, condition});
  });
  EXPECT_EQ(trip_count(module, module.entry_computation(), module.entry_computation()[module.entry_computation().root]),
            7);
}

// Two calls of a computation that holds a loop.
Module shared_loop() {
  ModuleBuilder module("shared");
  ComputationBuilder inner("inner");
  const InstructionId loop = add_loop(
      module, inner, {}, [](ComputationBuilder& c, InstructionId x) { return c.op(Opcode::kNegate, f32({4}), {x}); });
  const ComputationId callee = module.add(std::move(inner).build(inner.get_tuple_element(loop, 1)));
  ComputationBuilder b("main");
  const InstructionId first = b.calling(Opcode::kCall, f32({4}), {b.parameter(f32({4}))}, {callee});
  const InstructionId second = b.calling(Opcode::kCall, f32({4}), {first}, {callee});
  return std::move(module).build(std::move(b).build(second));
}

TEST(InlineCalls, GivesEachLoopItsOwnBody) {
  const Module inlined = inline_calls(shared_loop());
  verify(inlined);
  std::vector<ComputationId> bodies;
  for (const Instruction& instruction : inlined.entry_computation().instructions) {
    EXPECT_NE(instruction.opcode, Opcode::kCall);
    if (instruction.opcode == Opcode::kWhile) bodies.push_back(instruction.called[0]);
  }
  ASSERT_EQ(bodies.size(), 2u);
  EXPECT_NE(bodies[0], bodies[1]);
  EXPECT_EQ(inlined.computations.size(), 5u);
}

TEST(InlineCalls, SharesReducersAndDropsWhatNothingCalls) {
  ModuleBuilder module("reducers");
  const ComputationId unused = module.reducer(Opcode::kMaximum, DType::kF32);
  const ComputationId add = module.reducer(Opcode::kAdd, DType::kF32);
  ComputationBuilder b("main");
  const InstructionId x = b.parameter(f32({4, 8}));
  const InstructionId zero = b.scalar(DType::kF32, 0);
  const InstructionId row = b.with_dimensions(Opcode::kReduce, f32({4}), {x, zero}, {1}, {add});
  const InstructionId column = b.with_dimensions(Opcode::kReduce, f32({8}), {x, zero}, {0}, {add});
  const Module built = std::move(module).build(std::move(b).build(b.tuple({row, column})));
  EXPECT_EQ(built.computations.size(), 3u);
  EXPECT_EQ(built.computation(unused).size(), 3);
  EXPECT_EQ(inline_calls(built).computations.size(), 2u);
}

TEST(Flops, CountLoopsByTheirTrips) {
  // 10 trips of 4 negations, one add of the counter and one comparison; the condition is not counted.
  EXPECT_EQ(flops(shared_loop()), 2 * 10 * (4 + 1));
}

int64_t flops_of(const BuildEntry& build) { return contraction_flops(program(build)); }

TEST(Flops, OfADotAreTwoAMultiplication) {
  EXPECT_EQ(flops_of([](ModuleBuilder&, ComputationBuilder& b) {
              const InstructionId lhs = b.parameter(f32({2, 3, 4}));
              return b.dot(f32({2, 3, 5}), lhs, b.parameter(f32({2, 4, 5})), {{2}, {1}, {0}, {0}});
            }),
            2 * 2 * 3 * 5 * 4);
}

int64_t convolution_flops(int64_t input, int64_t kernel, int64_t output, const WindowDim& window) {
  return flops_of([&](ModuleBuilder&, ComputationBuilder& b) {
    const InstructionId x = b.parameter(f32({1, input, 1}));
    return b.convolution(f32({1, output, 1}), x, b.parameter(f32({kernel, 1, 1})), {window},
                         {0, 2, 1, 2, 0, 2, {1}, {0}, {1}, 1, 1});
  });
}

TEST(Flops, OfAConvolutionLeaveOutPaddingAndHoles) {
  EXPECT_EQ(convolution_flops(5, 3, 3, {3, 1, 0, 0, 1, 1, false}), 2 * 9);
  // A pad of 1 on each side: the first and the last position have two taps each.
  EXPECT_EQ(convolution_flops(5, 3, 5, {3, 1, 1, 1, 1, 1, false}), 2 * (3 * 5 - 2));
  // Stride 2: positions 0, 2, 4 of the padded input.
  EXPECT_EQ(convolution_flops(5, 3, 3, {3, 2, 1, 1, 1, 1, false}), 2 * (2 + 3 + 2));
  // Kernel dilated by 2: taps at 0, 2, 4; nothing padded.
  EXPECT_EQ(convolution_flops(7, 3, 3, {3, 1, 0, 0, 2, 1, false}), 2 * 9);
  // Input dilated by 2, x.x.x: windows of 3 meet 2, 1, 2 elements.
  EXPECT_EQ(convolution_flops(3, 3, 3, {3, 1, 0, 0, 1, 2, false}), 2 * (2 + 1 + 2));
}

TEST(Flops, OfReductionsAreOneAnElement) {
  const Module module = program([](ModuleBuilder& m, ComputationBuilder& b) {
    const InstructionId x = b.parameter(f32({4, 8}));
    return b.with_dimensions(Opcode::kReduce, f32({4}), {x, b.scalar(DType::kF32, 0)}, {1},
                             {m.reducer(Opcode::kAdd, DType::kF32)});
  });
  EXPECT_EQ(flops(module), 32);
}

TEST(Flops, OfBranchesAreThoseOfTheLargest) {
  const Module module = program([](ModuleBuilder& m, ComputationBuilder& b) {
    const ComputationId cheap = unary(m, "cheap", f32({8}), [](ComputationBuilder&, InstructionId p) { return p; });
    const ComputationId dear = unary(m, "dear", f32({8}), [](ComputationBuilder& c, InstructionId p) {
      return c.op(Opcode::kNegate, f32({8}), {p});
    });
    const InstructionId chooser = b.parameter(pred({}));
    const InstructionId x = b.parameter(f32({8}));
    return b.calling(Opcode::kConditional, f32({8}), {chooser, x, x}, {cheap, dear});
  });
  EXPECT_EQ(flops(module), 8);
}

TEST(Flops, EndAtTheLargestNumber) {
  const int64_t million = int64_t{1} << 20;
  EXPECT_EQ(flops_of([&](ModuleBuilder&, ComputationBuilder& b) {
              const InstructionId lhs = b.parameter(f32({million, million}));
              return b.dot(f32({million, million}), lhs, b.parameter(f32({million, million})), {{1}, {0}, {}, {}});
            }),
            2 * million * million * million);
  const Module module = program([&](ModuleBuilder& m, ComputationBuilder& b) {
    return add_loop(m, b, {0, 1, 1 << 30, "LT"}, [&](ComputationBuilder& c, InstructionId x) {
      const InstructionId large =
          c.with_dimensions(Opcode::kBroadcast, f32({million, million}), {c.scalar(DType::kF32, 1)}, {});
      const InstructionId product = c.dot(f32({million, million}), large, large, {{1}, {0}, {}, {}});
      const InstructionId part = c.slice(f32({1, 4}), product, {{0, 1, 1}, {0, 4, 1}});
      return c.op(Opcode::kAdd, f32({4}), {x, c.op(Opcode::kReshape, f32({4}), {part})});
    });
  });
  EXPECT_EQ(flops(module), INT64_MAX);
}

TEST(Collectives, CountLoopsByTheirTripsAndTheLargerSide) {
  const Module module = program([](ModuleBuilder& m, ComputationBuilder& b) {
    return add_loop(m, b, {}, [](ComputationBuilder& c, InstructionId x) {
      const InstructionId whole = c.with_dimensions(Opcode::kAllGather, f32({16}), {x}, {0});
      return c.slice(f32({4}), whole, {{0, 4, 1}});
    });
  });
  const auto totals = collectives(module);
  ASSERT_EQ(totals.size(), 1u);
  EXPECT_EQ(totals.at("all-gather").count, 10);
  EXPECT_EQ(totals.at("all-gather").bytes, 10 * 16 * 4);
}

TEST(Collectives, OfTheAsynchronousFormHaveTheNameOfTheOther) {
  const Module module = program([](ModuleBuilder&, ComputationBuilder& b) {
    const InstructionId start =
        b.op(Opcode::kCollectivePermuteStart, Shape::tuple({f32({4}), f32({4})}), {b.parameter(f32({4}))});
    return b.op(Opcode::kCollectivePermuteDone, f32({4}), {start});
  });
  const auto totals = collectives(module);
  ASSERT_EQ(totals.size(), 1u);
  EXPECT_EQ(totals.at("collective-permute").count, 1);
}

}  // namespace
}  // namespace alpa::hlo
