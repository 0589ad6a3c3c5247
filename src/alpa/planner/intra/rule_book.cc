#include "alpa/planner/intra/rule_book.h"

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"

namespace alpa::planner {

RuleBook::RuleBook(const hlo::Module& module, const hlo::ValueGraph& graph) : module_(module), graph_(graph) {
  for (hlo::NodeId id = 0; id < static_cast<hlo::NodeId>(graph.nodes.size()); ++id) {
    const hlo::Node& node = graph.nodes[static_cast<size_t>(id)];
    const RuleRequest asked = request(id);
    const auto [found, fresh] = known_.try_emplace(key(node, asked));
    if (fresh) {
      found->second.id = static_cast<int32_t>(known_.size()) - 1;
      if (node.kind == hlo::Node::Kind::kOperation) found->second.rule = sharding_rule(asked);
    }
    by_node_.push_back(&found->second);
  }
}

RuleRequest RuleBook::request(hlo::NodeId id) const {
  const hlo::Node& node = graph_.nodes[static_cast<size_t>(id)];
  const hlo::Computation& computation = module_.computation(node.computation);
  RuleRequest request{module_, computation, computation[node.instruction], {}, {}};
  for (const hlo::ValueId value : node.operands)
    request.operands.push_back(graph_.values[static_cast<size_t>(value)].shape);
  for (const hlo::ValueId value : node.results)
    request.results.push_back(graph_.values[static_cast<size_t>(value)].shape);
  return request;
}

std::string RuleBook::key(const hlo::Node& node, const RuleRequest& request) const {
  std::string key = node.kind == hlo::Node::Kind::kOperation
                        ? hlo::signature(module_, request.computation, request.instruction)
                        : "free";
  for (const tensor::Shape& shape : request.operands) key += "|" + tensor::to_string(shape);
  for (const tensor::Shape& shape : request.results) key += ">" + tensor::to_string(shape);
  return key;
}

}  // namespace alpa::planner
