#include "alpa/planner/intra/carried_sums.h"

#include "alpa/hlo/testing/programs.h"

namespace alpa::planner {
namespace {

using hlo::ComputationBuilder;
using hlo::ComputationId;
using hlo::f32;
using hlo::InstructionId;
using hlo::Module;
using hlo::ModuleBuilder;
using hlo::Opcode;
using hlo::Shape;
using tensor::DType;

constexpr int64_t kTurns = 5;
const Shape kSum = f32({4}), kRows = f32({kTurns, 4});

/// What a turn makes of the counter, a sum and rows; further values that nothing takes are let go.
struct Next {
  InstructionId sum, rows;
};
using Turn = std::function<Next(ComputationBuilder&, InstructionId counter, InstructionId sum, InstructionId rows)>;

std::vector<CarriedSum> sums_of(const Turn& turn, double begin = 0) {
  const Module module = hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
    const Shape state = Shape::tuple({hlo::s32({}), kSum, kRows});
    const ComputationId body = hlo::unary(m, "body", state, [&](ComputationBuilder& c, InstructionId p) {
      const InstructionId counter = c.get_tuple_element(p, 0);
      const InstructionId next = c.op(Opcode::kAdd, hlo::s32({}), {counter, c.scalar(DType::kS32, 1)});
      const Next made = turn(c, counter, c.get_tuple_element(p, 1), c.get_tuple_element(p, 2));
      return c.tuple({next, made.sum, made.rows});
    });
    const ComputationId condition = hlo::unary(m, "condition", state, [&](ComputationBuilder& c, InstructionId p) {
      return c.compare("LT", c.get_tuple_element(p, 0), c.scalar(DType::kS32, kTurns));
    });
    const InstructionId rows = b.with_dimensions(Opcode::kBroadcast, kRows, {b.scalar(DType::kF32, begin)}, {});
    const InstructionId init = b.tuple({b.scalar(DType::kS32, 0), b.parameter(kSum), rows});
    const InstructionId loop = b.calling(Opcode::kWhile, state, {init}, {body, condition});
    return b.tuple({b.get_tuple_element(loop, 1), b.get_tuple_element(loop, 2)});
  });
  return carried_sums(module, hlo::build_value_graph(module));
}

InstructionId one(ComputationBuilder& c) {
  return c.with_dimensions(Opcode::kBroadcast, kSum, {c.scalar(DType::kF32, 1)}, {});
}
InstructionId add_one(ComputationBuilder& c, InstructionId sum) { return c.op(Opcode::kAdd, kSum, {one(c), sum}); }
InstructionId write(ComputationBuilder& c, InstructionId rows, InstructionId row, InstructionId place) {
  const InstructionId update = c.op(Opcode::kReshape, f32({1, 4}), {row});
  return c.op(Opcode::kDynamicUpdateSlice, kRows, {rows, update, place, c.scalar(DType::kS32, 0)});
}

TEST(CarriedSums, AreAddedToOrWrittenRowByRow) {
  const auto sums = sums_of([](ComputationBuilder& c, InstructionId counter, InstructionId sum, InstructionId rows) {
    const InstructionId last = c.op(Opcode::kSubtract, hlo::s32({}), {c.scalar(DType::kS32, kTurns - 1), counter});
    return Next{add_one(c, sum), write(c, rows, one(c), last)};
  });
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].rows, 0);
  EXPECT_EQ(sums[0].carried, 1u);
  EXPECT_EQ(sums[0].addend, 0u);
  EXPECT_EQ(sums[0].executions, 1);
  EXPECT_EQ(sums[1].rows, kTurns);
  EXPECT_EQ(sums[1].addend, 1u);
}

TEST(CarriedSums, NothingElseInTheLoopReadsThem) {
  EXPECT_TRUE(sums_of([](ComputationBuilder& c, InstructionId counter, InstructionId sum, InstructionId rows) {
                return Next{add_one(c, sum), write(c, rows, sum, counter)};
              }).size() == 1);
  EXPECT_TRUE(sums_of([](ComputationBuilder& c, InstructionId, InstructionId sum, InstructionId rows) {
                return Next{c.op(Opcode::kAdd, kSum, {sum, sum}), rows};
              }).empty());
}

TEST(CarriedSums, RowsBeginAsZerosAndAreTheSameOnAllDevices) {
  const auto by_counter = [](ComputationBuilder& c, InstructionId counter, InstructionId sum, InstructionId rows) {
    return Next{sum, write(c, rows, one(c), counter)};
  };
  EXPECT_EQ(sums_of(by_counter).size(), 1u);
  EXPECT_TRUE(sums_of(by_counter, 1).empty());
  EXPECT_TRUE(sums_of([](ComputationBuilder& c, InstructionId, InstructionId sum, InstructionId rows) {
                const InstructionId first = c.slice(f32({1}), sum, {{0, 1, 1}});
                const InstructionId place = c.op(Opcode::kReshape, f32({}), {first});
                return Next{sum, write(c, rows, one(c), c.op(Opcode::kConvert, hlo::s32({}), {place}))};
              }).empty());
}

}  // namespace
}  // namespace alpa::planner
