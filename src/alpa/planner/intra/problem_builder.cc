#include "alpa/planner/intra/problem_builder.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "alpa/base/error.h"
#include "alpa/planner/intra/accumulated_sums.h"
#include "alpa/planner/intra/idle_dims.h"
#include "alpa/planner/intra/memory.h"

namespace alpa::planner {
namespace {

using hlo::Node;
using hlo::NodeId;
using hlo::ValueId;
using sharding::ShardingSpec;

constexpr double kPicosecond = 1e-12;
constexpr double kTrafficWeight = 1e-3;

// Costs stay far below "forbidden", their sums too: the unit is a picosecond unless that would be passed, as by loops
// of very many turns.
constexpr double kLargestCost = 1e14;

class ProblemBuilder {
 public:
  ProblemBuilder(const IntraRequest& request, cost::ReshardModel& reshard, double unit_seconds)
      : request_(request),
        graph_(request.graph),
        reshard_(reshard),
        rules_(request.module, request.graph),
        idle_dims_(request, rules_),
        maker_(rules_, request.graph, request.collectives, &idle_dims_),
        sums_(accumulated_sums(request)) {
    result_.unit_seconds = unit_seconds;
  }

  /// The largest cost met so far.
  double largest_seconds() const { return largest_seconds_; }

  IntraProblem run() {
    add_nodes();
    find_depths();
    result_.followed.assign(graph_.nodes.size(), -1);
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      if (!generator(id)) add_operand_edges(id);
    }
    for (const hlo::Tie& tie : graph_.ties) add_tie(tie.from, tie.to, tie.executions);
    for (const Feed& feed : request_.feeds) {
      add_tie(graph_.outputs.at(static_cast<size_t>(feed.output)), graph_.inputs.at(static_cast<size_t>(feed.input)),
              feed.executions);
    }
    result_.problem.name = request_.module.name;
    result_.problem.usage_limit = request_.memory_cap_bytes;
    return std::move(result_);
  }

 private:
  int64_t to_units(double seconds) {
    largest_seconds_ = std::max(largest_seconds_, seconds);
    return std::llround(std::min(seconds / result_.unit_seconds, kLargestCost));
  }

  bool generator(NodeId id) const { return result_.tables[static_cast<size_t>(id)] == nullptr; }
  const hlo::Value& value(ValueId id) const { return graph_.values[static_cast<size_t>(id)]; }
  const Node& node(NodeId id) const { return graph_.nodes[static_cast<size_t>(id)]; }

  void add_nodes() {
    const std::vector<Lifetime> lives = lifetimes(request_.module, graph_);
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      if (hlo::is_generator(request_.module, graph_, id)) {
        result_.tables.push_back(nullptr);
        result_.node_of.push_back(-1);
        continue;
      }
      result_.tables.push_back(maker_.table(id));
      result_.node_of.push_back(static_cast<int32_t>(result_.problem.nodes.size()));
      result_.problem.nodes.push_back(make_node(id, lives[static_cast<size_t>(id)]));
    }
    for (size_t input = 0; input < request_.input_copies.size(); ++input) {
      const auto id = static_cast<size_t>(value(graph_.inputs[input]).producer);
      for (int64_t& bytes : result_.problem.nodes[static_cast<size_t>(result_.node_of[id])].usages)
        bytes *= request_.input_copies[input];
    }
    for (size_t input = 0; input < request_.pinned_inputs.size(); ++input) {
      if (request_.pinned_inputs[input]) pin(value(graph_.inputs[input]).producer, *request_.pinned_inputs[input]);
    }
    for (size_t input = 0; input < request_.divided_most.size(); ++input) {
      if (request_.divided_most[input]) divide_most(value(graph_.inputs[input]).producer);
    }
  }

  solver::Node make_node(NodeId id, const Lifetime& life) {
    solver::Node result{.begin = life.begin, .end = life.end, .costs = {}, .usages = {}};
    for (const Strategy& strategy : result_.tables[static_cast<size_t>(id)]->strategies) {
      const double work = strategy.compute_seconds + kTrafficWeight * strategy.traffic_seconds;
      result.costs.push_back(
          to_units(communications(id) * strategy.communication_seconds + node(id).executions * work));
      int64_t bytes = 0;
      for (size_t k = 0; life.occupies && k < strategy.results.size(); ++k) {
        const tensor::Shape& shape = value(node(id).results[k]).shape;
        if (shape.is_array())
          bytes += tensor::byte_size(local_shape(shape, strategy.results[k], request_.collectives.logical_mesh()));
      }
      result.usages.push_back(bytes);
    }
    return result;
  }

  // How often a step communicates what the node makes; `otherwise`: if it need not wait for the last micro-batch.
  double communications(NodeId id) const { return communications(id, node(id).executions); }
  double communications(NodeId id, double otherwise) const {
    return sums_.absorbed[static_cast<size_t>(id)] ? 1 : otherwise;
  }

  void pin(NodeId id, const ShardingSpec& spec) {
    solver::Node& pinned = result_.problem.nodes[static_cast<size_t>(result_.node_of[static_cast<size_t>(id)])];
    const auto& strategies = result_.tables[static_cast<size_t>(id)]->strategies;
    bool found = false;
    for (size_t k = 0; k < strategies.size(); ++k) {
      if (strategies[k].results[0] == spec) {
        found = true;
      } else {
        pinned.costs[k] = solver::kForbidden;
      }
    }
    const auto& mesh = request_.collectives.logical_mesh();
    const hlo::Instruction& parameter = request_.module.computation(node(id).computation)[node(id).instruction];
    require<InvalidArgumentError>(found, "planner",
                                  "input {} of shape {} cannot be placed as {}: the parts must divide its dims, "
                                  "axes in one dim ascend, and each axis is above size 1",
                                  parameter.name, tensor::to_string(parameter.shape), to_string(spec, mesh));
  }

  void divide_most(NodeId id) {
    solver::Node& node = result_.problem.nodes[static_cast<size_t>(result_.node_of[static_cast<size_t>(id)])];
    const auto& strategies = result_.tables[static_cast<size_t>(id)]->strategies;
    std::vector<int64_t> parts;
    for (const Strategy& strategy : strategies)
      parts.push_back(num_shards(strategy.results[0], request_.collectives.logical_mesh()));
    const int64_t most = *std::max_element(parts.begin(), parts.end());
    for (size_t k = 0; k < parts.size(); ++k) {
      if (parts[k] < most) node.costs[k] = solver::kForbidden;
    }
  }

  void find_depths() {
    depth_.resize(graph_.nodes.size());
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      for (const ValueId operand : node(id).operands) {
        depth_[static_cast<size_t>(id)] =
            std::max(depth_[static_cast<size_t>(id)], depth_[static_cast<size_t>(value(operand).producer)] + 1);
      }
    }
  }

  bool elementwise(NodeId id) const {
    if (node(id).kind != Node::Kind::kOperation) return false;
    return hlo::is_elementwise(request_.module.computation(node(id).computation)[node(id).instruction].opcode);
  }

  // The operand whose placement an elementwise operation takes, or -1.
  int followed_operand(NodeId id) const {
    if (!elementwise(id) || value(node(id).results[0]).shape.rank() == 0) return -1;
    int best = -1;
    int64_t best_depth = -1;
    for (size_t k = 0; k < node(id).operands.size(); ++k) {
      const hlo::Value& operand = value(node(id).operands[k]);
      if (generator(operand.producer) || operand.shape.dims != value(node(id).results[0]).shape.dims) continue;
      if (depth_[static_cast<size_t>(operand.producer)] <= best_depth) continue;
      best_depth = depth_[static_cast<size_t>(operand.producer)];
      best = static_cast<int>(k);
    }
    if (best < 0) return -1;
    const NodeId producer = value(node(id).operands[static_cast<size_t>(best)]).producer;
    const bool followable = elementwise(producer) || node(producer).kind != Node::Kind::kOperation;
    return followable ? best : -1;
  }

  void add_operand_edges(NodeId id) {
    const int followed = result_.followed[static_cast<size_t>(id)] = followed_operand(id);
    for (size_t k = 0; k < node(id).operands.size(); ++k) {
      const hlo::Value& operand = value(node(id).operands[k]);
      if (generator(operand.producer) || operand.shape.rank() == 0) continue;
      add_edge({operand.producer, operand.result, id, static_cast<int>(k),
                communications(operand.producer, node(id).executions), followed == static_cast<int>(k)},
               operand.shape);
    }
  }

  void add_tie(ValueId from, ValueId to, double executions) {
    if (generator(value(from).producer) || value(from).shape.rank() == 0) return;
    add_edge({value(from).producer, value(from).result, value(to).producer, -1, executions, false}, value(from).shape);
  }

  struct EdgeRequest {
    NodeId from;
    int result;
    NodeId to;
    int operand;  ///< -1: the receiver's own result, at a tie
    double executions;
    bool followed;
  };

  static const ShardingSpec& wanted(const Strategy& strategy, int operand) {
    return operand < 0 ? strategy.results[0] : strategy.operands[static_cast<size_t>(operand)];
  }

  void fill_table(const EdgeRequest& edge, const tensor::Shape& shape, solver::CostTable& table) {
    sharding::ReshardGraph& ways = reshard_.graph(shape);
    std::vector<int> wanted_index;
    for (const Strategy& col : result_.tables[static_cast<size_t>(edge.to)]->strategies)
      wanted_index.push_back(ways.index(wanted(col, edge.operand)));
    for (const Strategy& row : result_.tables[static_cast<size_t>(edge.from)]->strategies) {
      const int have = ways.index(row.results[static_cast<size_t>(edge.result)]);
      const std::vector<double>* seconds = edge.followed ? nullptr : &ways.seconds_from(have);
      for (const int want : wanted_index) {
        const int64_t followed = have == want ? 0 : solver::kForbidden;
        table.costs.push_back(edge.followed ? followed
                                            : to_units(edge.executions * (*seconds)[static_cast<size_t>(want)]));
      }
    }
  }

  void add_edge(const EdgeRequest& edge, const tensor::Shape& shape) {
    const StrategyTable& from = *result_.tables[static_cast<size_t>(edge.from)];
    const StrategyTable& to = *result_.tables[static_cast<size_t>(edge.to)];
    if (edge.from == edge.to) {  // a loop that hands an element on as it is
      return;
    }
    const auto key = std::tuple(from.id, edge.result, to.id, edge.operand, edge.executions, edge.followed,
                                tensor::bit_width(shape.dtype));
    auto known = edge_tables_.find(key);
    if (known == edge_tables_.end()) {
      solver::CostTable table{.rows = static_cast<int32_t>(from.strategies.size()),
                              .cols = static_cast<int32_t>(to.strategies.size()),
                              .costs = {}};
      fill_table(edge, shape, table);
      known = edge_tables_.emplace(key, static_cast<int32_t>(result_.problem.tables.size())).first;
      result_.problem.tables.push_back(std::move(table));
    }
    result_.problem.edges.push_back({result_.node_of[static_cast<size_t>(edge.from)],
                                     result_.node_of[static_cast<size_t>(edge.to)], known->second});
  }

  const IntraRequest& request_;
  const hlo::ValueGraph& graph_;
  cost::ReshardModel& reshard_;
  const RuleBook rules_;
  const IdleDims idle_dims_;
  StrategyMaker maker_;
  const AccumulatedSums sums_;
  IntraProblem result_;
  double largest_seconds_ = 0;
  std::vector<int64_t> depth_;
  std::map<std::tuple<int32_t, int, int32_t, int, double, bool, int>, int32_t> edge_tables_;
};

}  // namespace

IntraProblem build_problem(const IntraRequest& request, cost::ReshardModel& reshard) {
  ProblemBuilder builder(request, reshard, kPicosecond);
  IntraProblem problem = builder.run();
  if (builder.largest_seconds() <= kLargestCost * kPicosecond) return problem;
  return ProblemBuilder(request, reshard, builder.largest_seconds() / kLargestCost).run();
}

}  // namespace alpa::planner
