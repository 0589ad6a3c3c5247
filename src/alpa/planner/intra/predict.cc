#include "alpa/planner/intra/predict.h"

#include <set>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"

namespace alpa::planner {
namespace {

using hlo::Node;
using hlo::NodeId;
using hlo::ValueId;
using sharding::ShardingSpec;

class PlanFiller {
 public:
  PlanFiller(const IntraRequest& request, const Assignment& assignment, plan::Plan& plan)
      : request_(request), graph_(request.graph), assignment_(assignment), plan_(plan), reshard_(request.collectives) {}

  void run() {
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      if (!assignment_.is_generator(id)) add_node(id);
    }
    for (const hlo::Tie& tie : graph_.ties) {
      add_reshard(tie.from, assignment_.spec(graph_, tie.to), tie.executions, tie.computation);
    }
    for (const Feed& feed : request_.feeds) {
      const ShardingSpec& spec = assignment_.spec(graph_, graph_.inputs[static_cast<size_t>(feed.input)]);
      add_reshard(graph_.outputs[static_cast<size_t>(feed.output)], spec, 1, request_.module.entry);
    }
    plan_.objective_seconds = assignment_.objective_seconds;
    plan_.bound_seconds = assignment_.bound_seconds;
    plan_.predicted_memory_per_device_bytes = assignment_.memory_bytes;
  }

 private:
  const std::string& key_of(const Node& node) const {
    if (node.kind == Node::Kind::kBranch) {  // the parameter of the branch carries the placement
      const hlo::Instruction& conditional = request_.module.computation(node.computation)[node.instruction];
      const hlo::Computation& branch =
          request_.module.computation(conditional.called.at(static_cast<size_t>(node.branch)));
      return branch[hlo::parameters(branch).at(0)].name;
    }
    return request_.module.computation(node.computation)[node.instruction].name;
  }

  void add_node(NodeId id) {
    const Node& node = graph_.nodes[static_cast<size_t>(id)];
    const Strategy& strategy = assignment_.strategy(id);
    auto& specs = plan_.ops[key_of(node)];
    specs.insert(specs.end(), strategy.results.begin(), strategy.results.end());
    for (const Communication& one : strategy.communication) count(one.kind, one.bytes, one.axes, node.executions);
    if (node.kind != Node::Kind::kOperation) return;
    bool differs = false;
    for (size_t k = 0; k < node.operands.size(); ++k) {
      const NodeId producer = graph_.values[static_cast<size_t>(node.operands[k])].producer;
      if (assignment_.is_generator(producer)) {
        differs |= strategy.operands[k] != strategy.results[0];
        continue;
      }
      differs |= strategy.operands[k] != assignment_.spec(graph_, node.operands[k]);
      add_reshard(node.operands[k], strategy.operands[k], node.executions, node.computation);
    }
    const hlo::Opcode opcode = request_.module.computation(node.computation)[node.instruction].opcode;
    if (differs || opcode == hlo::Opcode::kOptimizationBarrier) {
      auto& operands = plan_.operands[key_of(node)];
      operands.insert(operands.end(), strategy.operands.begin(), strategy.operands.end());
    }
  }

  void add_reshard(ValueId value, const ShardingSpec& to, double executions, hlo::ComputationId computation) {
    if (assignment_.is_generator(graph_.values[static_cast<size_t>(value)].producer)) return;
    const tensor::Shape& shape = graph_.values[static_cast<size_t>(value)].shape;
    ShardingSpec before = assignment_.spec(graph_, value);
    if (before == to) return;
    for (const sharding::ReshardStep& step : reshard_.steps(shape, before, to)) {
      if (made_.insert({computation, value, step.result}).second && step.kind != sharding::ReshardStep::Kind::kSlice) {
        count(cost::opcode_of(step.kind), step_bytes(shape, before, step, request_.collectives.logical_mesh()),
              step.axes, executions);
      }
      before = step.result;
    }
  }

  void count(hlo::Opcode kind, int64_t bytes, const std::vector<int>& axes, double executions) {
    plan::CollectiveCount& total = plan_.collectives[std::string(hlo::name(kind))];
    total.count += executions;
    total.bytes += executions * static_cast<double>(bytes);
    plan_.communication_seconds += executions * request_.collectives.seconds(kind, bytes, axes);
  }

  const IntraRequest& request_;
  const hlo::ValueGraph& graph_;
  const Assignment& assignment_;
  plan::Plan& plan_;
  cost::ReshardModel reshard_;
  std::set<std::tuple<hlo::ComputationId, ValueId, ShardingSpec>> made_;
};

}  // namespace

void fill_plan(const IntraRequest& request, const Assignment& assignment, plan::Plan& plan) {
  PlanFiller(request, assignment, plan).run();
}

}  // namespace alpa::planner
