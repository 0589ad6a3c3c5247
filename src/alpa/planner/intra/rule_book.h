#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "alpa/hlo/value_graph.h"
#include "alpa/planner/intra/rule.h"

namespace alpa::planner {

/// The sharding rules of a program's nodes, made once for all that look alike.
class RuleBook {
 public:
  struct Entry {
    int32_t id = 0;     ///< The same for nodes that look alike: same operation, same shapes.
    ShardingRule rule;  ///< No factors where the node is no operation: any placement will do.
  };

  RuleBook(const hlo::Module& module, const hlo::ValueGraph& graph);

  const Entry& entry(hlo::NodeId node) const { return *by_node_[static_cast<size_t>(node)]; }
  RuleRequest request(hlo::NodeId node) const;

 private:
  std::string key(const hlo::Node& node, const RuleRequest& request) const;

  const hlo::Module& module_;
  const hlo::ValueGraph& graph_;
  std::map<std::string, Entry> known_;
  std::vector<const Entry*> by_node_;
};

}  // namespace alpa::planner
