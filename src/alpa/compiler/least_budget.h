#pragma once

#include <cstdint>
#include <functional>

namespace alpa::compiler {

/// Plans under a memory budget, in bytes a device. Errors: InfeasibleError that knows the least that might do.
using PlanUnder = std::function<void(int64_t budget_bytes)>;

struct LeastBudget {
  int64_t bytes = 0;   ///< A number of four digits in GiB, so that it can be asked for by hand.
  bool found = false;  ///< A plan was made under exactly that budget; else it is the highest that was tried in vain.
};

/// The least budget, about, for which there is a plan, by a search of a few plans. What is planned depends on nothing
/// but the budget, so who asks for it gets that plan.
///
/// `refused`: a budget under which nothing was found; `guess`: what might do, above it.
LeastBudget least_budget(const PlanUnder& plan, int64_t refused, int64_t guess);

}  // namespace alpa::compiler
