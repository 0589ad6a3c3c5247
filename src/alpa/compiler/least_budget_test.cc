#include "alpa/compiler/least_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>
#include <string>

#include "alpa/base/amount.h"
#include "alpa/base/error.h"

namespace alpa::compiler {
namespace {

constexpr int64_t kMiB = 1 << 20;

// As the command reads it.
int64_t in_gib(const std::string& text) { return std::llround(std::stod(text) * (1 << 30)); }

// A planner that finds plans from `least` on and guesses so much of it.
struct Planner {
  int64_t least = 0;
  double guessed = 1;
  std::set<int64_t> made = {};

  void operator()(int64_t budget) {
    if (budget < least) throw InfeasibleError("", static_cast<int64_t>(guessed * static_cast<double>(least)), false);
    made.insert(budget);
  }
};

TEST(LeastBudget, IsOneThatAPlanWasMadeUnder) {
  for (const double guessed : {0.6, 0.9, 1.0, 1.5, 4.0}) {
    Planner planner{100 * kMiB, guessed};
    const LeastBudget found = least_budget(std::ref(planner), kMiB, static_cast<int64_t>(guessed * 100 * kMiB));
    EXPECT_TRUE(found.found) << guessed;
    EXPECT_TRUE(planner.made.contains(found.bytes));
    EXPECT_LT(static_cast<double>(found.bytes), 1.4 * 100 * kMiB) << guessed;
  }
}

TEST(LeastBudget, IsTheHighestThatWasRefusedWhereNoPlanIsFound) {
  int64_t highest = 0;
  const auto never = [&](int64_t budget) {
    highest = std::max(highest, budget);
    throw InfeasibleError("", budget + 1, false);
  };
  const LeastBudget least = least_budget(never, 1, 1 << 20);
  EXPECT_FALSE(least.found);
  EXPECT_EQ(least.bytes, highest);
  EXPECT_GT(least.bytes, 2 << 20);
}

TEST(LeastBudget, HasFourDigits) {
  Planner planner{123'456'789'012, 1};
  const LeastBudget found = least_budget(std::ref(planner), 1, 123'456'789'012);
  ASSERT_TRUE(found.found);
  EXPECT_EQ(gib_at_least(found.bytes), "115");  // 114.977... GiB
  EXPECT_EQ(found.bytes, int64_t{115} << 30);
  for (const int64_t bytes : std::initializer_list<int64_t>{1, 99, 1573032, 6120957026})
    EXPECT_GE(in_gib(gib_at_least(bytes)), bytes);
  EXPECT_EQ(gib_at_least(in_gib("0.001465")), "0.001465");
}

}  // namespace
}  // namespace alpa::compiler
