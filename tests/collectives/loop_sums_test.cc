// Sums that loops make, communicated once after the loop, run against the programs that communicate each turn.

#include <gtest/gtest.h>

#include "accumulated_step.h"
#include "alpa/passes/hoist_loop_sums.h"
#include "alpa/passes/reduce_scatter_forming.h"

namespace alpa::collectives {
namespace {

constexpr int64_t kTurns = 3;

/// What a loop's body and condition are built with.
struct Turn {
  ComputationBuilder& b;
  InstructionId counter;
  std::vector<InstructionId> carried;
  InstructionId part;  ///< Another one in each turn on each device.
  ComputationId sum;
};
struct LoopOf {
  std::vector<InstructionId> inits;
  std::function<std::vector<InstructionId>(const Turn&)> next = {};
  int64_t turns = kTurns;
  /// That the loop goes on besides the counter; none: always.
  std::function<InstructionId(ComputationBuilder&, const std::vector<InstructionId>&)> going_on = {};
};

/// A loop over (counter, carried values, part) in `b`; gives the carried values after it.
std::vector<InstructionId> add_loop(ModuleBuilder& m, ComputationBuilder& b, InstructionId part, ComputationId sum,
                                    const LoopOf& loop, int depth = 0) {
  std::vector<InstructionId> inits{b.scalar(DType::kS32, 0)};
  inits.insert(inits.end(), loop.inits.begin(), loop.inits.end());
  inits.push_back(part);
  std::vector<Shape> shapes;
  for (const InstructionId init : inits) shapes.push_back(b.shape(init));
  const auto elements = [&](ComputationBuilder& c, InstructionId p) {
    std::vector<InstructionId> result;
    for (size_t k = 0; k < loop.inits.size(); ++k)
      result.push_back(c.get_tuple_element(p, static_cast<int64_t>(k) + 1));
    return result;
  };
  const Shape state = Shape::tuple(shapes);
  const std::string id = std::to_string(depth);
  const ComputationId body = hlo::unary(m, "body" + id, state, [&](ComputationBuilder& c, InstructionId p) {
    const InstructionId counter = c.get_tuple_element(p, 0);
    const InstructionId whole = c.get_tuple_element(p, static_cast<int64_t>(inits.size()) - 1);
    const Shape shape = c.shape(whole);
    const InstructionId number = c.op(Opcode::kConvert, Shape(shape.dtype, {}), {counter});
    const InstructionId other = c.with_dimensions(Opcode::kBroadcast, shape, {number}, {});
    std::vector<InstructionId> next{c.op(Opcode::kAdd, hlo::s32({}), {counter, c.scalar(DType::kS32, 1)})};
    for (const InstructionId one :
         loop.next({c, counter, elements(c, p), c.op(Opcode::kSubtract, shape, {whole, other}), sum}))
      next.push_back(one);
    next.push_back(whole);
    return c.tuple(next);
  });
  const ComputationId condition = hlo::unary(m, "condition" + id, state, [&](ComputationBuilder& c, InstructionId p) {
    const InstructionId turns = c.scalar(DType::kS32, static_cast<double>(loop.turns));
    const InstructionId counts = c.compare("LT", c.get_tuple_element(p, 0), turns);
    if (!loop.going_on) return counts;
    return c.op(Opcode::kAnd, Shape(DType::kPred, {}), {counts, loop.going_on(c, elements(c, p))});
  });
  const InstructionId made = b.calling(Opcode::kWhile, state, {b.tuple(inits)}, {body, condition});
  return elements(b, made);
}

InstructionId zeros(ComputationBuilder& b, const Shape& shape) {
  return b.with_dimensions(Opcode::kBroadcast, shape, {b.scalar(shape.dtype, 0)}, {});
}

InstructionId added(const Turn& turn, size_t k, InstructionId addend) {
  return turn.b.op(Opcode::kAdd, turn.b.shape(addend), {turn.carried[k], addend});
}

using BuildLoop = std::function<LoopOf(ComputationBuilder&)>;

/// A program of one loop that returns what it carries; the part and further parameters are its inputs.
Module program_of(const BuildLoop& build) {
  return hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
    const ComputationId sum = m.reducer(Opcode::kAdd, DType::kF32);
    const InstructionId part = b.parameter(kWhole);
    return b.tuple(add_loop(m, b, part, sum, build(b)));
  });
}

/// All collectives of the program's text, however often they run.
int64_t written(const Module& module) {
  int64_t result = 0;
  for (const hlo::Computation& computation : module.computations) {
    for (const hlo::Instruction& one : computation.instructions) result += hlo::is_collective(one.opcode);
  }
  return result;
}

int64_t written_in_entry(const Module& module) {
  int64_t result = 0;
  for (const hlo::Instruction& one : module.entry_computation().instructions) result += hlo::is_collective(one.opcode);
  return result;
}

void expect_same_values(const Module& before, const Module& after) {
  const PerDevice inputs = whole_numbers(before);
  for (const int plugin : {0, 1})
    EXPECT_EQ(difference(run(before, inputs, plugin), run(after, inputs, plugin)), 0) << "plug-in " << plugin;
}

void expect_stays(const Module& before) {
  const Module after = passes::hoist_loop_sums(before, kDevices);
  EXPECT_EQ(written_in_entry(after), 0);
  EXPECT_EQ(written(after), written(before));
  expect_same_values(before, after);
}

class HoistLoopSums : public testing::TestWithParam<size_t> {
 protected:
  const Mesh& mesh() const { return kMeshes[GetParam()]; }
  InstructionId reduced(const Turn& turn, Axes over) const {
    return all_reduce(turn.b, turn.part, mesh(), over, turn.sum);
  }
  InstructionId reduced(const Turn& turn) const { return reduced(turn, mesh().all()); }
};

TEST_P(HoistLoopSums, OnceOverEveryGroup) {
  for (Axes over = 1; over <= mesh().all(); ++over) {
    const Module before = program_of([&](ComputationBuilder& b) {
      return LoopOf{{zeros(b, f32({8, 16}))}, [&](const Turn& turn) {
                      const InstructionId moved =
                          turn.b.with_dimensions(Opcode::kTranspose, f32({8, 16}), {reduced(turn, over)}, {1, 0});
                      return std::vector{added(turn, 0, turn.b.op(Opcode::kNegate, f32({8, 16}), {moved}))};
                    }};
    });
    const Module after = passes::hoist_loop_sums(before, kDevices);
    EXPECT_EQ(count(before, "all-reduce"), kTurns);
    EXPECT_EQ(count(after, "all-reduce"), 1);
    EXPECT_EQ(written_in_entry(after), 1);
    expect_same_values(before, after);
    EXPECT_EQ(written(passes::hoist_loop_sums(after, kDevices)), 1);
  }
}

// What is there before is no part of a device's sum: it is added once, behind the all-reduce.
TEST_P(HoistLoopSums, WhateverTheSumBeginsWith) {
  const Module before = program_of([&](ComputationBuilder& b) {
    return LoopOf{{b.parameter(kWhole)}, [&](const Turn& turn) { return std::vector{added(turn, 0, reduced(turn))}; }};
  });
  const Module after = passes::hoist_loop_sums(before, kDevices);
  EXPECT_EQ(count(after, "all-reduce"), 1);
  expect_same_values(before, after);
}

TEST_P(HoistLoopSums, OfNoTurns) {
  const Module before = program_of([&](ComputationBuilder& b) {
    return LoopOf{
        {b.parameter(kWhole)}, [&](const Turn& turn) { return std::vector{added(turn, 0, reduced(turn))}; }, 0};
  });
  const Module after = passes::hoist_loop_sums(before, kDevices);
  EXPECT_EQ(written_in_entry(after), 1);
  expect_same_values(before, after);
}

// As the partitioner leaves it where a step returns just what a loop carries.
TEST_P(HoistLoopSums, OfALoopThatIsTheRoot) {
  Module before = program_of([&](ComputationBuilder& b) {
    return LoopOf{{b.parameter(kWhole)}, [&](const Turn& turn) { return std::vector{added(turn, 0, reduced(turn))}; }};
  });
  hlo::Computation& entry = before.entry_computation();
  while (entry[entry.root].opcode != Opcode::kWhile) entry.root = entry[entry.root].operands[0];
  entry.instructions.resize(static_cast<size_t>(entry.root) + 1);
  const Module after = passes::hoist_loop_sums(before, kDevices);
  EXPECT_EQ(count(after, "all-reduce"), 1);
  expect_same_values(before, after);
}

TEST_P(HoistLoopSums, PiecesOfOneSumOnce) {
  const Module before = program_of([&](ComputationBuilder& b) {
    return LoopOf{{zeros(b, f32({4, 8})), zeros(b, f32({12, 8}))}, [&](const Turn& turn) {
                    const InstructionId all = reduced(turn);
                    const auto piece = [&](int64_t first, int64_t last) {
                      return turn.b.slice(f32({last - first, 8}), all, {{first, last, 1}, {0, 8, 1}});
                    };
                    return std::vector{added(turn, 0, piece(0, 4)), added(turn, 1, piece(4, 16))};
                  }};
  });
  const Module after = passes::hoist_loop_sums(before, kDevices);
  EXPECT_EQ(count(after, "all-reduce"), 1);
  EXPECT_EQ(bytes(after, "all-reduce"), 16 * 8 * 4);
  expect_same_values(before, after);
}

TEST_P(HoistLoopSums, SumsOfSeveralGroups) {
  const Module before = program_of([&](ComputationBuilder& b) {
    return LoopOf{{zeros(b, kWhole)}, [&](const Turn& turn) {
                    const InstructionId both = turn.b.op(Opcode::kSubtract, kWhole, {reduced(turn), reduced(turn, 1)});
                    return std::vector{added(turn, 0, turn.b.op(Opcode::kAdd, kWhole, {turn.part, both}))};
                  }};
  });
  const Module after = passes::hoist_loop_sums(before, kDevices);
  EXPECT_EQ(count(after, "all-reduce"), 2);
  expect_same_values(before, after);
}

TEST_P(HoistLoopSums, ScatterOnce) {
  const Module before = program_of([&](ComputationBuilder& b) {
    return LoopOf{{zeros(b, f32({2, 8}))}, [&](const Turn& turn) {
                    return std::vector{added(turn, 0, sliced(turn.b, mesh(), reduced(turn), {mesh().all(), 0}))};
                  }};
  });
  const Module after = passes::reduce_scatter_forming(passes::hoist_loop_sums(before, kDevices), kDevices);
  EXPECT_EQ(count(after, "all-reduce"), 0);
  EXPECT_EQ(count(after, "reduce-scatter"), 1);
  EXPECT_EQ(bytes(after, "reduce-scatter"), 16 * 8 * 4);
  expect_same_values(before, after);
}

TEST_P(HoistLoopSums, OutOfLoopsInLoops) {
  const Module before = hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
    const ComputationId sum = m.reducer(Opcode::kAdd, DType::kF32);
    const InstructionId part = b.parameter(kWhole);
    const LoopOf outer{{zeros(b, kWhole)}, [&](const Turn& turn) {
                         const LoopOf inner{{zeros(turn.b, kWhole)}, [&](const Turn& within) {
                                              return std::vector{added(within, 0, reduced(within))};
                                            }};
                         return std::vector{added(turn, 0, add_loop(m, turn.b, turn.part, sum, inner, 1)[0])};
                       }};
    return b.tuple(add_loop(m, b, part, sum, outer));
  });
  const Module after = passes::hoist_loop_sums(before, kDevices);
  EXPECT_EQ(count(before, "all-reduce"), kTurns * kTurns);
  EXPECT_EQ(count(after, "all-reduce"), 1);
  EXPECT_EQ(written_in_entry(after), 1);
  expect_same_values(before, after);
}

// The outer loop hands its sum to the inner one, which adds to it: it leaves the inner loop alone.
TEST_P(HoistLoopSums, SumsThatInnerLoopsGoOnWith) {
  const Module before = hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
    const ComputationId sum = m.reducer(Opcode::kAdd, DType::kF32);
    const InstructionId part = b.parameter(kWhole);
    const LoopOf outer{{b.parameter(kWhole)}, [&](const Turn& turn) {
                         const LoopOf inner{{turn.carried[0]}, [&](const Turn& within) {
                                              return std::vector{added(within, 0, reduced(within))};
                                            }};
                         return add_loop(m, turn.b, turn.part, sum, inner, 1);
                       }};
    return b.tuple(add_loop(m, b, part, sum, outer));
  });
  const Module after = passes::hoist_loop_sums(before, kDevices);
  EXPECT_EQ(count(after, "all-reduce"), 1);  // init + sum is what the outer loop adds to, in turn
  expect_same_values(before, after);
}

TEST_P(HoistLoopSums, WhatTheLoopReadsStays) {
  expect_stays(program_of([&](ComputationBuilder& b) {  // by the next turn
    return LoopOf{{zeros(b, kWhole), zeros(b, kWhole)},
                  [&](const Turn& turn) { return std::vector{added(turn, 0, reduced(turn)), turn.carried[0]}; }};
  }));
  expect_stays(program_of([&](ComputationBuilder& b) {  // by the same turn
    return LoopOf{{zeros(b, kWhole), zeros(b, kWhole)}, [&](const Turn& turn) {
                    const InstructionId next = added(turn, 0, reduced(turn));
                    return std::vector{next, next};
                  }};
  }));
  expect_stays(program_of([&](ComputationBuilder& b) {  // by what is summed
    return LoopOf{{b.parameter(kWhole)}, [&](const Turn& turn) {
                    const InstructionId other = turn.b.op(Opcode::kMaximum, kWhole, {turn.part, turn.carried[0]});
                    return std::vector{added(turn, 0, all_reduce(turn.b, other, mesh(), mesh().all(), turn.sum))};
                  }};
  }));
  expect_stays(program_of([&](ComputationBuilder& b) {  // by the condition
    LoopOf loop{{zeros(b, kWhole)}, [&](const Turn& turn) { return std::vector{added(turn, 0, reduced(turn))}; }};
    loop.going_on = [](ComputationBuilder& c, const std::vector<InstructionId>& carried) {
      const InstructionId one = c.slice(f32({1, 1}), carried[0], {{0, 1, 1}, {0, 1, 1}});
      return c.compare("LT", c.op(Opcode::kReshape, f32({}), {one}), c.scalar(DType::kF32, 1e6));
    };
    return loop;
  }));
}

TEST_P(HoistLoopSums, WhatIsNotLinearStays) {
  const auto by = [&](const std::function<InstructionId(const Turn&)>& addend) {
    return program_of([&](ComputationBuilder& b) {
      return LoopOf{{zeros(b, kWhole)}, [&](const Turn& turn) { return std::vector{added(turn, 0, addend(turn))}; }};
    });
  };
  expect_stays(by([&](const Turn& turn) { return turn.b.op(Opcode::kAbs, kWhole, {reduced(turn)}); }));
  expect_stays(by([&](const Turn& turn) { return turn.b.op(Opcode::kMultiply, kWhole, {reduced(turn), turn.part}); }));
  expect_stays(by([&](const Turn& turn) {  // a factor that is another one in each turn
    const InstructionId number = turn.b.op(Opcode::kConvert, f32({}), {turn.counter});
    const InstructionId factor = turn.b.with_dimensions(Opcode::kBroadcast, kWhole, {number}, {});
    return turn.b.op(Opcode::kMultiply, kWhole, {reduced(turn), factor});
  }));
  expect_stays(program_of([&](ComputationBuilder& b) {  // a sum that something else wants too
    return LoopOf{{zeros(b, kWhole), zeros(b, kWhole)}, [&](const Turn& turn) {
                    const InstructionId all = reduced(turn);
                    return std::vector{added(turn, 0, all), all};
                  }};
  }));
  expect_stays(program_of([&](ComputationBuilder& b) {  // the loop multiplies
    return LoopOf{{b.parameter(kWhole)}, [&](const Turn& turn) {
                    return std::vector{turn.b.op(Opcode::kMultiply, kWhole, {turn.carried[0], reduced(turn)})};
                  }};
  }));
}

// A sum of narrower floats than those it goes into may be beyond their largest number.
TEST_P(HoistLoopSums, NarrowerSumsStay) {
  const auto module = [&](DType carried) {
    return hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
      const Shape narrow(DType::kF16, kWhole.dims), wide(carried, kWhole.dims);
      const ComputationId sum = m.reducer(Opcode::kAdd, DType::kF16);
      const InstructionId part = b.op(Opcode::kConvert, narrow, {b.parameter(kWhole)});
      return b.tuple(add_loop(m, b, part, sum, {{zeros(b, wide)}, [&](const Turn& turn) {
                                                  InstructionId all = reduced(turn);
                                                  if (carried != DType::kF16)
                                                    all = turn.b.op(Opcode::kConvert, wide, {all});
                                                  return std::vector{added(turn, 0, all)};
                                                }}));
    });
  };
  expect_stays(module(DType::kF32));
  const Module before = module(DType::kF16), after = passes::hoist_loop_sums(before, kDevices);
  EXPECT_EQ(count(after, "all-reduce"), 1);
  expect_same_values(before, after);
}

// --- rows ---------------------------------------------------------------------------------------------------------

/// Of a turn, what is written into the row of the turn; rank 2 or 3.
using Row = std::function<InstructionId(const Turn&)>;

struct Rows {
  std::vector<int64_t> dims;  ///< Of a row.
  Row row;
  bool from_zeros = true;
  bool last_first = true;  ///< Whether rows are written from the last on.
  std::function<InstructionId(const Turn&, InstructionId row)> place = {};
};

Step step_of(const Rows& rows) {
  return step_with_calls([&](ModuleBuilder& m, ComputationBuilder& b, InstructionId part, ComputationId sum) {
    std::vector<int64_t> dims = rows.dims;
    dims.insert(dims.begin(), kTurns);
    const Shape stack = f32(dims);
    dims[0] = 1;
    const InstructionId one = b.with_dimensions(Opcode::kBroadcast, stack, {b.scalar(DType::kF32, 1)}, {});
    const LoopOf loop{{rows.from_zeros ? zeros(b, stack) : one}, [&](const Turn& turn) {
                        const InstructionId row = turn.b.op(Opcode::kReshape, f32(dims), {rows.row(turn)});
                        const InstructionId last = turn.b.scalar(DType::kS32, kTurns - 1);
                        InstructionId place = turn.counter;
                        if (rows.last_first) place = turn.b.op(Opcode::kSubtract, hlo::s32({}), {last, place});
                        if (rows.place) place = rows.place(turn, place);
                        std::vector<InstructionId> operands{turn.carried[0], row, place};
                        operands.resize(dims.size() + 2, turn.b.scalar(DType::kS32, 0));
                        return std::vector{turn.b.op(Opcode::kDynamicUpdateSlice, stack, operands)};
                      }};
    return add_loop(m, b, part, sum, loop);
  });
}

Step hoisted_and_deferred(const Step& before, std::vector<char> which = {}) {
  Step hoisted = before;
  hoisted.accumulate = passes::hoist_loop_sums(before.accumulate, defer_request(before, which));
  return deferred(hoisted, which);
}

TEST_P(HoistLoopSums, RowsOnceAStep) {
  for (Axes over = 1; over <= mesh().all(); ++over) {
    const Step before =
        step_of({{8, 16}, [&](const Turn& turn) {
                   return turn.b.with_dimensions(Opcode::kTranspose, f32({8, 16}), {reduced(turn, over)}, {1, 0});
                 }});
    const Step after = hoisted_and_deferred(before);
    EXPECT_EQ(count_all(after.accumulate), 0);
    EXPECT_EQ(count(after.apply, "all-reduce"), 1);
    EXPECT_EQ(bytes(after.apply, "all-reduce"), kTurns * 16 * 8 * 4);
    expect_same(before, after);
  }
}

TEST_P(HoistLoopSums, RowsAreScatteredOnce) {
  const Step before =
      step_of({{2, 8}, [&](const Turn& turn) { return sliced(turn.b, mesh(), reduced(turn), {mesh().all(), 0}); }});
  const Step after = hoisted_and_deferred(before);
  EXPECT_EQ(count_all(after.accumulate), 0);
  const Module formed = passes::reduce_scatter_forming(after.apply, kDevices);
  EXPECT_EQ(count(formed, "all-reduce"), 0);
  EXPECT_EQ(bytes(formed, "reduce-scatter"), kTurns * 16 * 8 * 4);
  expect_same(before, after);
}

// Each operation that may lie on the way is made of all rows as of one.
TEST_P(HoistLoopSums, RowsByEveryLinearOperation) {
  const ReplicaGroups all = mesh().groups(mesh().all());
  const auto factor = [](const Turn& turn, const Shape& shape) { return turn.b.iota(shape, 0); };
  const std::vector<Rows> ways = {
      {{8, 16}, [&](const Turn& t) { return t.b.op(Opcode::kReshape, f32({8, 16}), {reduced(t)}); }},
      {{4, 8}, [&](const Turn& t) { return t.b.slice(f32({4, 8}), reduced(t), {{1, 8, 2}, {0, 8, 1}}); }},
      {{16, 8}, [&](const Turn& t) { return t.b.with_dimensions(Opcode::kReverse, kWhole, {reduced(t)}, {0}); }},
      {{32, 8},
       [&](const Turn& t) {
         return t.b.with_dimensions(Opcode::kConcatenate, f32({32, 8}), {reduced(t), t.part}, {0});
       }},
      {{16, 3, 8},
       [&](const Turn& t) { return t.b.with_dimensions(Opcode::kBroadcast, f32({16, 3, 8}), {reduced(t)}, {0, 2}); }},
      {{8},
       [&](const Turn& t) {
         return t.b.with_dimensions(Opcode::kReduce, f32({8}), {reduced(t), t.b.scalar(DType::kF32, 0)}, {0}, {t.sum});
       }},
      {{16, 8}, [&](const Turn& t) { return t.b.op(Opcode::kMultiply, kWhole, {factor(t, kWhole), reduced(t)}); }},
      {{16, 8},
       [&](const Turn& t) {
         const InstructionId two = t.b.with_dimensions(Opcode::kBroadcast, kWhole, {t.b.scalar(DType::kF32, 2)}, {});
         return t.b.op(Opcode::kDivide, kWhole, {reduced(t), two});
       }},
      {{16, 8}, [&](const Turn& t) { return t.b.op(Opcode::kSubtract, kWhole, {t.part, reduced(t)}); }},
      {{16, 8},
       [&](const Turn& t) {
         const InstructionId kept = sliced(t.b, mesh(), reduced(t), {mesh().all(), 0});
         return t.b.collective(Opcode::kAllGather, kWhole, {kept}, all, 0);
       }},
      {{2, 8},
       [&](const Turn& t) { return t.b.collective(Opcode::kReduceScatter, f32({2, 8}), {t.part}, all, 0, t.sum); }},
      {{16, 8}, [&](const Turn& t) { return t.b.collective(Opcode::kAllToAll, kWhole, {t.part}, all, 0); }},
  };
  for (size_t k = GetParam(); k < ways.size(); k += kMeshes.size()) {  // by the meshes in turn
    SCOPED_TRACE(k);
    const Step before = step_of(ways[k]);
    const Step after = hoisted_and_deferred(before);
    EXPECT_EQ(count_all(after.accumulate), 0);
    EXPECT_EQ(count_all(after.apply) * kTurns, count_all(before.accumulate));
    expect_same(before, after);
  }
}

TEST_P(HoistLoopSums, RowsThatCannotWaitStay) {
  const Row row = [&](const Turn& turn) { return reduced(turn); };
  const auto expect_rows_stay = [](const Step& before, std::vector<char> which = {}) {
    const Step after = hoisted_and_deferred(before, std::move(which));
    EXPECT_EQ(count_all(after.accumulate), kTurns);
    EXPECT_EQ(count_all(after.apply), 0);
    expect_same(before, after);
  };
  expect_rows_stay(step_of({.dims = {16, 8}, .row = row, .from_zeros = false}));
  expect_rows_stay(step_of({.dims = {16, 8}, .row = row}), {false});
  expect_rows_stay(step_of({.dims = {16, 8}, .row = row, .place = [](const Turn& turn, InstructionId) {
                              const InstructionId device = turn.b.op(Opcode::kPartitionId, Shape(DType::kU32, {}), {});
                              return turn.b.op(Opcode::kConvert, hlo::s32({}), {device});
                            }}));
  const Step alone = step_of({.dims = {16, 8}, .row = row});  // without micro-batches it would be no less
  EXPECT_EQ(count_all(passes::hoist_loop_sums(alone.accumulate, kDevices)), kTurns);
}

INSTANTIATE_TEST_SUITE_P(Meshes, HoistLoopSums, testing::Range(size_t{0}, kMeshes.size()));

}  // namespace
}  // namespace alpa::collectives
