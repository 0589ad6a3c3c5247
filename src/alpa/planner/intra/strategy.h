#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "alpa/cost/collective_model.h"
#include "alpa/hlo/value_graph.h"
#include "alpa/planner/intra/rule.h"
#include "alpa/sharding/spec.h"

namespace alpa::planner {

/// One collective of one execution. Bytes: the larger of operand and result on one device.
struct Communication {
  hlo::Opcode kind = hlo::Opcode::kAllReduce;
  int64_t bytes = 0;
  std::vector<int> axes;
};

/// One way to divide one operation: each mesh axis over at most one factor.
struct Strategy {
  std::vector<sharding::ShardingSpec> operands;
  std::vector<sharding::ShardingSpec> results;
  std::vector<Communication> communication;
  double communication_seconds = 0;
  double compute_seconds = 0;  ///< Of a dot or convolution on one device.
  double traffic_seconds = 0;  ///< Reading operands and writing results at memory bandwidth, on one device.
};

/// The strategies of an operation, in a fixed order. Shared by all operations that are alike.
struct StrategyTable {
  int32_t id = 0;
  std::vector<Strategy> strategies;
};

/// What the rule of a node that is an operation is asked.
RuleRequest rule_request(const hlo::Module& module, const hlo::ValueGraph& graph, const hlo::Node& node);

/// Text that is equal for operations whose rules are equal.
std::string likeness(const RuleRequest& request);

/// Makes strategy tables and remembers them by what an operation looks like.
class StrategyMaker {
 public:
  StrategyMaker(const hlo::Module& module, const hlo::ValueGraph& graph, const cost::CollectiveModel& collectives)
      : module_(module), graph_(graph), collectives_(collectives) {}

  /// Of dots and convolutions only those that divide the work over the most devices.
  std::shared_ptr<const StrategyTable> table(const hlo::Node& node);

 private:
  const hlo::Module& module_;
  const hlo::ValueGraph& graph_;
  const cost::CollectiveModel& collectives_;
  std::map<std::string, std::shared_ptr<const StrategyTable>> known_;
};

/// All strategies that a rule gives on a mesh: axes of size above 1, ascending in a factor, nothing padded.
std::vector<Strategy> enumerate_strategies(const RuleRequest& request, const ShardingRule& rule,
                                           const mesh::LogicalMesh& mesh);

}  // namespace alpa::planner
