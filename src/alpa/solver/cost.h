#pragma once

#include <cstdint>
#include <string>

namespace alpa::solver {

/// A sum of costs: of the unit of the problem's costs, in 128 bits because sums of finite costs may pass 64.
using Cost = __int128;

/// Decimal digits, with a minus sign where below 0.
std::string to_string(Cost cost);

}  // namespace alpa::solver
