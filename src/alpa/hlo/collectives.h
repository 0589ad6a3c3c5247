#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "alpa/hlo/module.h"

namespace alpa::hlo {

struct CollectiveTotal {
  double count = 0;  ///< Executions.
  double bytes = 0;  ///< The larger of operand and result on one device, summed over executions.
};

/// How often each computation runs a step, by its number; loops by their trip counts (unknown: once), what is applied
/// to elements never.
std::vector<double> executions(const Module& module);

/// Bytes of one execution of a collective: the larger of operand and result.
int64_t collective_bytes(const Computation& computation, const Instruction& instruction);

/// Collectives of a partitioned program by opcode (the synchronous form's name); loops by their trip counts (unknown:
/// once).
std::map<std::string, CollectiveTotal> collectives(const Module& module);

}  // namespace alpa::hlo
