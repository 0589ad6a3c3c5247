#include "alpa/compiler/least_budget.h"

#include <gtest/gtest.h>

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
  for (const double guessed : {0.3, 0.9, 1.0, 1.5, 4.0}) {
    Planner planner{100 * kMiB, guessed};
    const auto found = least_budget(std::ref(planner), kMiB, static_cast<int64_t>(guessed * 100 * kMiB));
    if (guessed < 0.8) {
      EXPECT_FALSE(found);  // too far away for so few tries
      continue;
    }
    ASSERT_TRUE(found) << guessed;
    EXPECT_TRUE(planner.made.contains(*found));
    EXPECT_LT(static_cast<double>(*found), 1.11 * 100 * kMiB) << guessed;
  }
}

TEST(LeastBudget, IsNothingWhereNoPlanIsFound) {
  const auto never = [](int64_t budget) { throw InfeasibleError("", budget + 1, false); };
  EXPECT_FALSE(least_budget(never, 1, 1000));
}

TEST(LeastBudget, HasFourDigits) {
  Planner planner{123'456'789'012, 1};
  const auto found = least_budget(std::ref(planner), 1, 123'456'789'012);
  ASSERT_TRUE(found);
  EXPECT_EQ(gib_at_least(*found), "115");  // 114.977... GiB
  EXPECT_EQ(*found, int64_t{115} << 30);
  for (const int64_t bytes : std::initializer_list<int64_t>{1, 99, 1573032, 6120957026})
    EXPECT_GE(in_gib(gib_at_least(bytes)), bytes);
  EXPECT_EQ(gib_at_least(in_gib("0.001465")), "0.001465");
}

}  // namespace
}  // namespace alpa::compiler
