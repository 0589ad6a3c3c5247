#include "alpa/compiler/least_budget.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "alpa/base/amount.h"
#include "alpa/base/error.h"

namespace alpa::compiler {
namespace {

constexpr int kTries = 6;         // Plans made.
constexpr double kGrowth = 1.03;  // At least, from a refused budget to the next.
constexpr double kClose = 1.1;    // The budget found over one that was refused: near enough.

int64_t round_up(int64_t bytes) { return std::llround(std::stod(gib_at_least(bytes)) * (1 << 30)); }

}  // namespace

std::optional<int64_t> least_budget(const PlanUnder& plan, int64_t refused, int64_t guess) {
  std::optional<int64_t> found;
  for (int tried = 0; tried < kTries; ++tried) {
    const int64_t budget = round_up(guess);
    if (found && (budget >= *found || budget <= refused)) break;
    try {
      plan(budget);
      found = budget;
    } catch (const InfeasibleError& error) {
      refused = budget;
      guess = std::max(error.least_memory_bytes(), static_cast<int64_t>(kGrowth * static_cast<double>(budget)) + 1);
    }
    if (!found) continue;
    if (static_cast<double>(*found) <= kClose * static_cast<double>(refused)) break;
    guess = refused + (*found - refused) / 2;
  }
  return found;
}

}  // namespace alpa::compiler
