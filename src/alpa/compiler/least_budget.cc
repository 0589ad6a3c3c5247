#include "alpa/compiler/least_budget.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "alpa/base/amount.h"
#include "alpa/base/error.h"

namespace alpa::compiler {
namespace {

constexpr int kTries = 6;         // Plans made.
constexpr double kGrowth = 0.03;  // At least, from the first refused budget to the next; twice as much each time.
constexpr double kClose = 1.1;    // The budget found over one that was refused: near enough.

int64_t round_up(int64_t bytes) { return std::llround(std::stod(gib_at_least(bytes)) * (1 << 30)); }

}  // namespace

LeastBudget least_budget(const PlanUnder& plan, int64_t refused, int64_t guess) {
  LeastBudget result{refused, false};
  double growth = kGrowth;
  for (int tried = 0; tried < kTries; ++tried) {
    const int64_t budget = round_up(guess);
    if (result.found && (budget >= result.bytes || budget <= refused)) break;
    try {
      plan(budget);
      result = {budget, true};
    } catch (const InfeasibleError& error) {
      refused = budget;
      if (!result.found) result.bytes = refused;
      const auto more = static_cast<int64_t>(growth * static_cast<double>(budget));
      guess = std::max(error.least_memory_bytes(), budget + more + 1);
      growth *= 2;
    }
    if (!result.found) continue;
    if (static_cast<double>(result.bytes) <= kClose * static_cast<double>(refused)) break;
    guess = refused + (result.bytes - refused) / 2;
  }
  return result;
}

}  // namespace alpa::compiler
