#pragma once

#include <map>
#include <string>

#include "alpa/hlo/module.h"

namespace alpa::hlo {

struct CollectiveTotal {
  double count = 0;  ///< Executions.
  double bytes = 0;  ///< The larger of operand and result on one device, summed over executions.
};

/// Collectives of a partitioned program by opcode (the synchronous form's name); loops by their trip counts (unknown:
/// once).
std::map<std::string, CollectiveTotal> collectives(const Module& module);

}  // namespace alpa::hlo
