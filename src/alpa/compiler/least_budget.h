#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace alpa::compiler {

/// Plans under a memory budget, in bytes a device. Errors: InfeasibleError that knows the least that might do.
using PlanUnder = std::function<void(int64_t budget_bytes)>;

/// The least budget, about, for which there is a plan: one was made under exactly that budget, and what is planned
/// depends on nothing else. In bytes, and a number of four digits in GiB, so that it can be asked for by hand. Nothing
/// if the search, of a few plans, met none.
///
/// `refused`: a budget under which nothing was found; `guess`: what might do, above it.
std::optional<int64_t> least_budget(const PlanUnder& plan, int64_t refused, int64_t guess);

}  // namespace alpa::compiler
