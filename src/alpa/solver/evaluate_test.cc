#include "alpa/solver/evaluate.h"

#include <gtest/gtest.h>

#include <vector>

#include "alpa/base/error.h"
#include "alpa/solver/iopddl.h"

namespace alpa::solver {
namespace {

Problem example() { return read_problem(ALPA_TEST_DATA "/iopddl/example.json"); }

TEST(Evaluate, AddsUpThePublicExample) {
  const std::vector<int32_t> choice = {0, 0, 2, 1, 0};
  const Evaluation evaluation = evaluate(example(), choice);
  // Nodes 15 + 55 + 35 + 75 + 95 = 275; edges 30 + 40 + 10 + 30 + 60 = 170.
  EXPECT_TRUE(evaluation.objective == 445);
  // [30,40): 10; [40,50): 10 + 25; [50,70): 10 + 25 + 15 = 50; [110,120): 15 + 10 + 15 = 40; [120,140): 10 + 15 = 25.
  EXPECT_TRUE(evaluation.peak_usage == 50);
  EXPECT_EQ(evaluation.worst_time, 50);
  EXPECT_TRUE(evaluation.fits);
  EXPECT_FALSE(evaluation.forbidden);
}

TEST(Evaluate, SeesWhenTheLimitIsPassed) {
  const std::vector<int32_t> choice = {0, 0, 1, 1, 0};
  const Evaluation evaluation = evaluate(example(), choice);
  // [50,70): 10 + 25 + 20 = 55 > 50.
  EXPECT_TRUE(evaluation.peak_usage == 55);
  EXPECT_FALSE(evaluation.fits);
  EXPECT_FALSE(evaluation.feasible());
}

TEST(Evaluate, SeesForbiddenEntries) {
  Problem problem;
  problem.nodes.assign(2, {0, 1, {1, 2}, {0, 0}});
  problem.tables.push_back({2, 2, {0, kForbidden, 3, 4}});
  problem.edges.push_back({0, 1, 0});
  EXPECT_TRUE(evaluate(problem, std::vector<int32_t>{0, 1}).forbidden);
  // 2 + 1 + 3
  EXPECT_TRUE(evaluate(problem, std::vector<int32_t>{1, 0}).objective == 6);
}

TEST(Evaluate, SumsPast64Bits) {
  Problem problem;
  problem.nodes.assign(20, {0, 1, {kForbidden - 1}, {INT64_MAX}});
  const Evaluation evaluation = evaluate(problem, std::vector<int32_t>(20, 0));
  EXPECT_EQ(to_string(evaluation.objective), "19999999999999999980");
  EXPECT_EQ(to_string(evaluation.peak_usage), "184467440737095516140");
}

TEST(Evaluate, CountsNothingForEmptyLifetimes) {
  Problem problem;
  problem.nodes.push_back({5, 5, {1}, {100}});
  EXPECT_TRUE(evaluate(problem, std::vector<int32_t>{0}).peak_usage == 0);
}

TEST(Evaluate, FreesBeforeItTakesAtTheSameTime) {
  Problem problem;
  problem.nodes.push_back({0, 5, {1}, {100}});
  problem.nodes.push_back({5, 9, {1}, {70}});
  EXPECT_TRUE(evaluate(problem, std::vector<int32_t>{0, 0}).peak_usage == 100);
}

TEST(Evaluate, RejectsChoicesThatAreNone) {
  EXPECT_THROW(evaluate(example(), std::vector<int32_t>{0, 0}), InvalidArgumentError);
  EXPECT_THROW(evaluate(example(), std::vector<int32_t>{0, 0, 3, 0, 0}), InvalidArgumentError);
  EXPECT_THROW(evaluate(example(), std::vector<int32_t>{0, 0, -1, 0, 0}), InvalidArgumentError);
}

TEST(Cost, PrintsDigits) {
  EXPECT_EQ(to_string(Cost(0)), "0");
  EXPECT_EQ(to_string(Cost(-120)), "-120");
  EXPECT_EQ(to_string(Cost(1) << 100), "1267650600228229401496703205376");
}

}  // namespace
}  // namespace alpa::solver
