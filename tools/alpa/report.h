#pragma once

#include <map>
#include <string>
#include <vector>

#include "alpa/compiler/communication.h"
#include "alpa/compiler/program.h"
#include "alpa/hlo/collectives.h"
#include "alpa/plan/plan.h"
#include "result_json.h"

namespace alpa::tool {

/// The plan's head: mesh, method, cluster, seconds.
std::string plan_head(const plan::Plan& plan);

/// Placement of every input: parameters, optimizer state (summed up where it lies as its parameter does), other state,
/// batch; and of the outputs that feed no input.
std::string placement_tables(const plan::Plan& plan, const compiler::Meta& meta);

/// Collectives by kind, predicted and, if given, found.
std::string communication_table(const plan::Plan& plan, const std::map<std::string, hlo::CollectiveTotal>* found);

/// The collectives that cost most, by their place in the user's program.
std::string sites_table(const std::vector<compiler::CommunicationSite>& sites);

/// Losses and seconds of the steps, at most a dozen rows.
std::string step_table(const RunResult& result);

}  // namespace alpa::tool
