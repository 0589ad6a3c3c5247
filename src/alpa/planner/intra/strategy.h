#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "alpa/cost/collective_model.h"
#include "alpa/hlo/value_graph.h"
#include "alpa/planner/intra/rule_book.h"
#include "alpa/sharding/spec.h"

namespace alpa::planner {

/// One collective of one execution. Bytes: the larger of operand and result on one device.
struct Communication {
  hlo::Opcode kind = hlo::Opcode::kAllReduce;
  int64_t bytes = 0;
  std::vector<int> axes;
};

/// One way to divide one operation: each mesh axis over at most one factor. An axis that divides operands in a
/// reduction and the result too scatters the sum: the operation is made without it there, and sliced.
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

class IdleDims;

struct StrategyOptions {
  const IdleDims* idle_dims = nullptr;  ///< Without it every dim may be divided.
  /// Whether reductions, as contractions, have strategies that scatter their sums. Small sums make large tables, and
  /// save only where bytes alone tell: a reduce-scatter has its own latency.
  bool scatter_reductions = false;
  /// Whether dots and convolutions have strategies that divide the work over fewer devices than others do.
  bool whole_contractions = false;
};

/// Makes strategy tables and remembers them by what an operation looks like.
class StrategyMaker {
 public:
  StrategyMaker(const RuleBook& rules, const hlo::ValueGraph& graph, const cost::CollectiveModel& collectives,
                const StrategyOptions& options = {})
      : rules_(rules), graph_(graph), collectives_(collectives), options_(options) {}

  std::shared_ptr<const StrategyTable> table(hlo::NodeId node);

 private:
  /// One a factor of an operation, one a dim of the result of what is none: whether it stays whole.
  std::vector<char> idle_of(const hlo::Node& node, const ShardingRule& rule) const;
  std::vector<Strategy> free_strategies(const tensor::Shape& shape, const std::vector<char>& idle) const;
  std::vector<Strategy> operation_strategies(const RuleRequest& request, ShardingRule rule,
                                             const std::vector<char>& idle) const;

  const RuleBook& rules_;
  const hlo::ValueGraph& graph_;
  const cost::CollectiveModel& collectives_;
  const StrategyOptions options_;
  std::map<std::pair<int32_t, std::vector<char>>, std::shared_ptr<const StrategyTable>> known_;
};

/// All strategies that a rule gives on a mesh: axes of size above 1, ascending in a factor, nothing padded. An axis
/// over a reduction factor of an addition is all-reduced, or reduce-scattered over a dim of its result.
std::vector<Strategy> enumerate_strategies(const RuleRequest& request, const ShardingRule& rule,
                                           const mesh::LogicalMesh& mesh);

}  // namespace alpa::planner
