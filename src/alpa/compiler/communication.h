#pragma once

#include <string>
#include <vector>

#include "alpa/cost/collective_model.h"
#include "alpa/hlo/module.h"

namespace alpa::compiler {

/// One collective of a partitioned program.
struct CommunicationSite {
  std::string kind;       ///< Opcode, in its synchronous form.
  std::string where;      ///< Path of the value in the user's program, "jit(step)/dot_general"; may be empty.
  double executions = 1;  ///< A step; loops by their trip counts (unknown: once).
  double bytes = 0;       ///< The larger of operand and result on one device, summed over executions.
  double seconds = 0;     ///< By the model of cost, summed over executions.
};

/// All collectives of a partitioned program, in its order, callees first. Of several axes that make a group of the same
/// size the first set is priced; that matters where a mesh leaves a host.
std::vector<CommunicationSite> communication_sites(const hlo::Module& partitioned, const cost::CollectiveModel& model);

}  // namespace alpa::compiler
