#include "alpa/planner/intra/problem_builder.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "alpa/base/error.h"
#include "alpa/planner/intra/accumulated_sums.h"
#include "alpa/planner/intra/idle_dims.h"
#include "alpa/planner/intra/memory.h"
#include "alpa/planner/intra/output_placements.h"

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
        maker_(rules_, request.graph, request.collectives,
               {.idle_dims = &idle_dims_,
                .scatter_reductions = request.search == Search::kDivideUpdates,
                .whole_contractions = request.whole_contractions}),
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
    if (std::isinf(seconds)) return solver::kForbidden;
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
      if (request_.pinned_inputs[input])
        pin({value(graph_.inputs[input]).producer, sharding::SpecPattern(*request_.pinned_inputs[input])});
    }
    for (const Pin& one : request_.pins) pin(one);
    for (size_t input = 0; input < request_.divisions.size(); ++input)
      divide(value(graph_.inputs[input]).producer, request_.divisions[input]);
    for (size_t output = 0; output < request_.pinned_outputs.size(); ++output) {
      if (request_.pinned_outputs[output]) price_output(graph_.outputs[output], *request_.pinned_outputs[output]);
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

  solver::Node& problem_node(NodeId id) {
    return result_.problem.nodes[static_cast<size_t>(result_.node_of[static_cast<size_t>(id)])];
  }

  // How often a step communicates what the node makes; `otherwise`: if it goes into no sums.
  double communications(NodeId id) const { return communications(id, node(id).executions); }
  double communications(NodeId id, double otherwise) const {
    return sums_.communications[static_cast<size_t>(id)].value_or(otherwise);
  }

  void pin(const Pin& request) {
    const auto& strategies = result_.tables[static_cast<size_t>(request.node)]->strategies;
    bool found = false;
    for (size_t k = 0; k < strategies.size(); ++k) {
      if (request.pattern.matches(strategies[k].results[0])) {
        found = true;
      } else {
        problem_node(request.node).costs[k] = solver::kForbidden;
      }
    }
    const Node& pinned = node(request.node);
    const hlo::Instruction& instruction = request_.module.computation(pinned.computation)[pinned.instruction];
    require<InvalidArgumentError>(found, "planner",
                                  "{} of shape {} cannot be placed as {}: the parts must divide its dims, "
                                  "axes in one dim ascend, and each axis is above size 1",
                                  instruction.name, tensor::to_string(value(pinned.results[0]).shape),
                                  to_string(request.pattern, request_.collectives.logical_mesh()));
    pinned_.insert(request.node);
  }

  void divide(NodeId id, Division division) {
    if (division == Division::kFree) return;
    std::vector<int64_t> parts;
    for (const Strategy& strategy : result_.tables[static_cast<size_t>(id)]->strategies)
      parts.push_back(num_shards(strategy.results[0], request_.collectives.logical_mesh()));
    const int64_t most = *std::max_element(parts.begin(), parts.end());
    const int64_t least = division == Division::kMost ? most : std::min<int64_t>(most, 2);
    for (size_t k = 0; k < parts.size(); ++k) {
      if (parts[k] < least) problem_node(id).costs[k] = solver::kForbidden;
    }
  }

  // The change of placement at the end is the producer's to pay.
  void price_output(ValueId output, const sharding::SpecPattern& pattern) {
    const NodeId id = value(output).producer;
    if (generator(id) || value(output).shape.rank() == 0) return;
    const auto& strategies = result_.tables[static_cast<size_t>(id)]->strategies;
    for (size_t k = 0; k < strategies.size(); ++k) {
      const ShardingSpec& made = strategies[k].results[static_cast<size_t>(value(output).result)];
      int64_t& cost = problem_node(id).costs[k];
      const int64_t more = to_units(nearest(pattern, value(output).shape, made, reshard_).seconds);
      cost = cost >= solver::kForbidden || more >= solver::kForbidden ? solver::kForbidden : cost + more;
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

  bool barrier(NodeId id) const {
    return node(id).kind == Node::Kind::kOperation &&
           request_.module.computation(node(id).computation)[node(id).instruction].opcode ==
               hlo::Opcode::kOptimizationBarrier;
  }

  // Whether what is made of its result may take its placement: as what a barrier got.
  bool followable(NodeId id) const {
    while (barrier(id)) id = value(node(id).operands[0]).producer;
    return elementwise(id) || node(id).kind != Node::Kind::kOperation;
  }

  // The operand whose placement an elementwise operation or a barrier takes, or -1.
  int followed_operand(NodeId id) const {
    if (barrier(id)) return generator(value(node(id).operands[0]).producer) ? -1 : 0;
    if (!elementwise(id) || value(node(id).results[0]).shape.rank() == 0 || pinned_.contains(id)) return -1;
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
    return followable(value(node(id).operands[static_cast<size_t>(best)]).producer) ? best : -1;
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
  std::set<NodeId> pinned_;
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
