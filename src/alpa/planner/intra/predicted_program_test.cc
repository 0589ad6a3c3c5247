#include "alpa/planner/intra/predicted_program.h"

#include <gtest/gtest.h>

namespace alpa::planner {
namespace {

using hlo::Opcode;

PredictedCollective sum(std::vector<int> axes, int64_t bytes = 64) {
  return {Opcode::kAllReduce, bytes, std::move(axes), "f32 add", true, 1, 0};
}

const mesh::LogicalMesh kMesh({2, 4});

std::map<std::string, plan::CollectiveCount> totals_of(PredictedProgram program) {
  program.run_passes();
  return program.totals();
}

TEST(PredictedProgram, MergesSumsOfTheSameAxes) {
  const auto totals = [](std::vector<int> other, bool used) {
    PredictedProgram program(kMesh);
    const int32_t x = program.add_step(StepRole::kOther, {});
    const int32_t a = program.add_collective(sum({0, 1}), x);
    const int32_t b = program.add_step(StepRole::kMove, {program.add_collective(sum(std::move(other)), x)});
    program.use(program.add_step(StepRole::kSum, {a, b}));
    if (used) program.use(a);
    return totals_of(std::move(program)).at("all-reduce");
  };
  EXPECT_EQ(totals({1, 0}, false), (plan::CollectiveCount{1, 64}));
  EXPECT_EQ(totals({0, 1}, true), (plan::CollectiveCount{1, 128}));  // combined
  EXPECT_EQ(totals({0}, false), (plan::CollectiveCount{2, 128}));
}

TEST(PredictedProgram, MergesSumsOverOneAxisAfterAnother) {
  PredictedProgram program(kMesh);
  const int32_t x = program.add_step(StepRole::kOther, {});
  const auto twice = [&] { return program.add_collective(sum({0}), program.add_collective(sum({1}), x)); };
  const int32_t a = twice();
  program.use(program.add_step(StepRole::kSum, {a, twice()}));
  EXPECT_EQ(totals_of(std::move(program)).at("all-reduce"), (plan::CollectiveCount{2, 128}));
}

TEST(PredictedProgram, MergesSumsOfWhichTheSamePartIsKept) {
  const auto totals = [](std::vector<int> over, int dim, std::vector<int> axes) {
    PredictedProgram program(kMesh);
    const int32_t x = program.add_step(StepRole::kOther, {});
    const int32_t a = program.add_slice(program.add_collective(sum({0, 1}), x), 0, {0, 1});
    const int32_t all = program.add_collective(sum(std::move(over)), x);
    int32_t b = all;
    for (const int axis : axes) b = program.add_slice(b, dim, {axis});
    if (dim == 1) b = program.add_step(StepRole::kMove, {b}, {0}, {Opcode::kTranspose, 8, 2});
    program.use(program.add_step(StepRole::kSum, {a, b}));
    return totals_of(std::move(program));
  };
  using Totals = std::map<std::string, plan::CollectiveCount>;
  EXPECT_EQ(totals({0, 1}, 0, {0, 1}), (Totals{{"reduce-scatter", {1, 64}}}));
  EXPECT_EQ(totals({0, 1}, 1, {0, 1}), (Totals{{"reduce-scatter", {1, 64}}}));
  EXPECT_EQ(totals({0, 1}, 2, {0, 1}), (Totals{{"reduce-scatter", {1, 128}}}));  // other dims; combined
  EXPECT_EQ(totals({0, 1}, 0, {1, 0}).at("reduce-scatter").bytes, 128);          // other places
}

TEST(PredictedProgram, GathersADimOnce) {
  const auto totals = [](int second_dim, bool used) {
    PredictedProgram program(kMesh);
    const auto gather = [](std::vector<int> axes, int64_t bytes, int dim) {
      PredictedCollective one{Opcode::kAllGather, bytes, std::move(axes), "f32", false, 1, 0};
      one.gathered_dim = dim;
      return one;
    };
    const int32_t first = program.add_collective(gather({1}, 32, 0), program.add_step(StepRole::kOther, {}));
    program.use(program.add_collective(gather({0}, 64, second_dim), first));
    if (used) program.use(first);
    return totals_of(std::move(program)).at("all-gather");
  };
  EXPECT_EQ(totals(0, false), (plan::CollectiveCount{1, 64}));
  EXPECT_EQ(totals(1, false), (plan::CollectiveCount{2, 96}));  // another dim
  EXPECT_EQ(totals(0, true), (plan::CollectiveCount{2, 96}));   // what the first gathered is wanted too
}

// (w: accumulated, 4 micro-batches) -> the addition's step.
int32_t add_sum(PredictedProgram& program, int32_t addend, int64_t bytes) {
  const int32_t before = program.add_step(StepRole::kOther, {});
  const int32_t added = program.add_step(StepRole::kSum, {before, addend}, {0, 1});
  program.add_accumulation(added, bytes);
  program.use(added);
  return added;
}

PredictedCollective often(PredictedCollective one) {
  one.executions = 4;
  return one;
}

TEST(PredictedProgram, SumsWaitForTheLastMicroBatch) {
  PredictedProgram program(kMesh);
  const int32_t x = program.add_step(StepRole::kOther, {});
  const int32_t all = program.add_collective(often(sum({0, 1})), x);
  add_sum(program, program.add_slice(all, 0, {0, 1}), 8);
  const int32_t used = program.add_collective(often(sum({0, 1}, 32)), x);
  add_sum(program, used, 32);
  program.use(program.add_step(StepRole::kOther, {used}));
  program.merge_all_reduces();
  const auto more = program.bytes_of_deferring({1, 1});
  EXPECT_EQ(more.at(0), 64 - 8);
  EXPECT_FALSE(more.at(1).has_value());  // something else needs it
  EXPECT_FALSE(program.bytes_of_deferring({0, 1}).at(0).has_value());
  EXPECT_EQ(program.deferral({1, 1}).leaves.at(0), (std::vector<Deferral::Leaf>{{all, 64}}));
}

/// A loop of four turns that adds to one array and writes the rows of another, which go into accumulators.
struct LoopProgram {
  PredictedProgram program{kMesh};
  int32_t sum = 0, rows = 0;

  explicit LoopProgram(bool is_used = false) {
    constexpr int32_t kEntry = 0, kBody = 1;
    const auto in = [](int32_t computation, int64_t bytes = 64) {
      return StepResult{Opcode::kAdd, bytes, bytes / 4, computation};
    };
    const int32_t enter = program.add_step(StepRole::kOther, {});
    sum = program.add_step(StepRole::kOther, {enter}, {}, in(kEntry));
    rows = program.add_step(StepRole::kOther, {enter}, {}, in(kEntry, 4 * 16));
    const int32_t part = program.add_step(StepRole::kOther, {}, {}, in(kBody));
    const auto reduced = [&](int64_t bytes) {
      PredictedCollective one = ::alpa::planner::sum({0, 1}, bytes);
      one.executions = 4 * 3;  // turns and micro-batches
      one.computation = kBody;
      return program.add_collective(one, part, in(kBody, bytes));
    };
    const int32_t addend = reduced(64);
    if (is_used) program.use(addend);
    const int32_t added = program.add_step(StepRole::kSum, {sum, addend}, {0, 1}, in(kBody));
    const int32_t row = program.add_slice(reduced(64), 0, {1}, in(kBody, 16));
    const int32_t written = program.add_step(StepRole::kOther, {rows, row}, {}, in(kBody, 64));
    for (const int32_t update : {added, written}) program.use(update);
    program.add_loop_sum({sum, added, 1, 0, -1, enter, kEntry, 3});
    program.add_loop_sum({rows, written, 1, 4, 7, enter, kEntry, 3});
    for (const int32_t result : {sum, rows}) {
      const int32_t before = program.add_step(StepRole::kOther, {}, {}, in(kEntry));
      const int32_t addition = program.add_step(StepRole::kSum, {before, result}, {0, 1}, in(kEntry));
      program.use(addition);
      program.add_accumulation(addition, 64);
    }
  }

  std::map<std::string, plan::CollectiveCount> totals(const std::vector<char>& which) {
    program.hoist_added();
    program.hoist_rows(which, 0);
    program.merge_all_reduces();
    return totals_of(with_sums_once(which));
  }

 private:
  // What waits for the last micro-batch runs once.
  PredictedProgram with_sums_once(const std::vector<char>& which) const {
    const Deferral deferral = program.deferral(which);
    PredictedProgram result(kMesh);
    for (size_t number = 0; number < program.steps().size(); ++number) {
      PredictedStep step = program.steps()[number];
      for (PredictedCollective& one : step.collectives) one.executions = deferral.waits[number] ? 1 : one.executions;
      const int32_t copy = result.add_copy(step, step.operands);
      for (auto use = static_cast<int64_t>(step.users.size()); use < step.uses; ++use) result.use(copy);
    }
    return result;
  }
};

TEST(PredictedProgram, HoistsWhatLoopsAddUpAndRowsThatWait) {
  using Totals = std::map<std::string, plan::CollectiveCount>;
  EXPECT_EQ(LoopProgram().totals({1, 1}), (Totals{{"all-reduce", {2, 64 + 4 * 16}}, {"reduce-scatter", {1, 4 * 64}}}));
  // Not those that do not wait: the sum once a micro-batch, the rows in each turn.
  EXPECT_EQ(LoopProgram().totals({0, 0}),
            (Totals{{"all-reduce", {3 + 12, 3 * 64 + 12 * 16}}, {"reduce-scatter", {12, 12 * 64}}}));
  EXPECT_EQ(LoopProgram(true).totals({1, 0}).at("all-reduce"), (plan::CollectiveCount{12 + 12, 12 * 64 + 12 * 16}));
}

TEST(PredictedProgram, HoistedSumsAreWhatDevicesAddUp) {
  LoopProgram loop;
  loop.program.hoist_added();
  EXPECT_NE(loop.program.outside(loop.sum), loop.sum);
  EXPECT_EQ(loop.program.outside(loop.rows), loop.rows);
  loop.program.hoist_rows({1, 1}, 0);
  EXPECT_NE(loop.program.outside(loop.rows), loop.rows);
  const auto bytes_of = [&](int32_t step) { return loop.program.steps()[static_cast<size_t>(step)].result.bytes; };
  EXPECT_EQ(bytes_of(loop.sum), 64);
  EXPECT_EQ(bytes_of(loop.rows), 4 * 64);  // whole rows
}

TEST(PredictedProgram, FormsWhatIsLeftOfAnAllReduce) {
  const auto totals = [](std::vector<int> over, std::vector<int> slice) {
    PredictedProgram program(kMesh);
    const int32_t all = program.add_collective(sum(std::move(over)), program.add_step(StepRole::kOther, {}));
    program.use(program.add_slice(program.add_step(StepRole::kMove, {all}), 0, std::move(slice)));
    return totals_of(std::move(program));
  };
  using Totals = std::map<std::string, plan::CollectiveCount>;
  EXPECT_EQ(totals({0, 1}, {0, 1}), (Totals{{"reduce-scatter", {1, 64}}}));
  EXPECT_EQ(totals({0, 1}, {1}), (Totals{{"reduce-scatter", {1, 64}}, {"all-reduce", {1, 16}}}));
  EXPECT_EQ(totals({1}, {0}), (Totals{{"all-reduce", {1, 32}}}));
  EXPECT_EQ(totals({1}, {0, 1}), (Totals{{"reduce-scatter", {1, 32}}}));
}

TEST(PredictedProgram, CombinesWhatDoesNotWait) {
  PredictedProgram program(kMesh);
  const int32_t x = program.add_step(StepRole::kOther, {});
  const int32_t a = program.add_collective(sum({0}), x);
  program.use(program.add_collective(sum({0}), a));
  program.use(program.add_collective(sum({0}), x));
  EXPECT_EQ(totals_of(std::move(program)).at("all-reduce"), (plan::CollectiveCount{2, 192}));
}

}  // namespace
}  // namespace alpa::planner
