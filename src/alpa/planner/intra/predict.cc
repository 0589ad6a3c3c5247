#include "alpa/planner/intra/predict.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/planner/intra/memory.h"

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
    count_values();
    const auto end = static_cast<int64_t>(graph_.nodes.size()) - 1;
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      if (!assignment_.is_generator(id)) add_node(id);
    }
    for (const hlo::Tie& tie : graph_.ties) {
      add_reshard({tie.from, assignment_.spec(graph_, tie.to), tie.executions, tie.computation, crossing(tie)});
    }
    for (const Feed& feed : request_.feeds) {
      const ShardingSpec& spec = assignment_.spec(graph_, graph_.inputs[static_cast<size_t>(feed.input)]);
      add_reshard(
          {graph_.outputs[static_cast<size_t>(feed.output)], spec, feed.executions, request_.module.entry, end});
    }
    plan_.objective_seconds = assignment_.objective_seconds;
    plan_.bound_seconds = assignment_.bound_seconds;
    for (const auto& [key, copy] : copies_) occupy(copy.begin, copy.end, copy.bytes);
    int64_t now = 0;
    for (const int64_t change : changes_)
      plan_.predicted_memory_per_device_bytes = std::max(plan_.predicted_memory_per_device_bytes, now += change);
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
      add_reshard({node.operands[k], strategy.operands[k], node.executions, node.computation, id});
    }
    const hlo::Opcode opcode = request_.module.computation(node.computation)[node.instruction].opcode;
    if (differs || opcode == hlo::Opcode::kOptimizationBarrier) {
      auto& operands = plan_.operands[key_of(node)];
      operands.insert(operands.end(), strategy.operands.begin(), strategy.operands.end());
    }
  }

  struct Reshard {
    ValueId value;
    ShardingSpec to;
    double executions;
    hlo::ComputationId computation;  ///< Where it is made.
    int64_t at;                      ///< Node that uses it.
  };
  // What a collective of a change of placement makes: there from its first use to its last.
  struct Copy {
    int64_t bytes = 0;
    int64_t begin = 0;
    int64_t end = 0;
  };

  void add_reshard(const Reshard& request) {
    const ValueId value = request.value;
    if (assignment_.is_generator(graph_.values[static_cast<size_t>(value)].producer)) return;
    const tensor::Shape& shape = graph_.values[static_cast<size_t>(value)].shape;
    const mesh::LogicalMesh& mesh = request_.collectives.logical_mesh();
    ShardingSpec before = assignment_.spec(graph_, value);
    if (before == request.to) return;
    for (const sharding::ReshardStep& step : reshard_.steps(shape, before, request.to)) {
      if (step.kind != sharding::ReshardStep::Kind::kSlice) {
        const auto [copy, made] = copies_.try_emplace({request.computation, request.executions, value, step.result});
        if (made) {
          count(cost::opcode_of(step.kind), step_bytes(shape, before, step, mesh), step.axes, request.executions);
          copy->second = {tensor::byte_size(local_shape(shape, step.result, mesh)), request.at, request.at + 1};
        }
        copy->second.begin = std::min(copy->second.begin, request.at);
        copy->second.end = std::max(copy->second.end, request.at + 1);
      }
      before = step.result;
    }
  }

  // A value that becomes another is placed anew where it is made, if that comes after (the end of a loop's turn), or
  // where the other begins.
  int64_t crossing(const hlo::Tie& tie) const {
    const auto producer = [&](ValueId value) { return graph_.values[static_cast<size_t>(value)].producer; };
    return std::max(producer(tie.from), producer(tie.to));
  }

  void occupy(int64_t begin, int64_t end, int64_t bytes) {
    changes_[static_cast<size_t>(begin)] += bytes;
    changes_[static_cast<size_t>(end)] -= bytes;
  }

  void count_values() {
    changes_.assign(graph_.nodes.size() + 1, 0);
    const std::vector<Lifetime> lives = lifetimes(request_.module, graph_);
    std::vector<int64_t> copies(graph_.nodes.size(), 1);
    for (size_t input = 0; input < request_.input_copies.size(); ++input)
      copies[static_cast<size_t>(graph_.values[static_cast<size_t>(graph_.inputs[input])].producer)] =
          request_.input_copies[input];
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      const Lifetime& life = lives[static_cast<size_t>(id)];
      if (assignment_.is_generator(id) || !life.occupies) continue;
      for (const ValueId value : graph_.nodes[static_cast<size_t>(id)].results) {
        const tensor::Shape& shape = graph_.values[static_cast<size_t>(value)].shape;
        if (!shape.is_array()) continue;
        const auto local = local_shape(shape, assignment_.spec(graph_, value), request_.collectives.logical_mesh());
        occupy(life.begin, life.end, copies[static_cast<size_t>(id)] * tensor::byte_size(local));
      }
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
  /// By where they are made and how often: what runs once a micro-batch and once a step is in two programs.
  std::map<std::tuple<hlo::ComputationId, double, ValueId, ShardingSpec>, Copy> copies_;
  std::vector<int64_t> changes_;  ///< Of the bytes alive, by node.
};

}  // namespace

void fill_plan(const IntraRequest& request, const Assignment& assignment, plan::Plan& plan) {
  PlanFiller(request, assignment, plan).run();
}

}  // namespace alpa::planner
