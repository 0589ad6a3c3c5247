#include "alpa/planner/intra/propagate.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "alpa/base/error.h"

namespace alpa::planner {
namespace {

using hlo::Node;
using hlo::NodeId;
using hlo::ValueId;
using sharding::ShardingSpec;

constexpr int kMaxRounds = 8;

class Propagation {
 public:
  Propagation(const IntraRequest& request, const IntraProblem& problem, cost::ReshardModel& reshard)
      : request_(request),
        graph_(request.graph),
        problem_(problem),
        reshard_(reshard),
        wanted_(graph_.nodes.size()),
        chosen_(graph_.nodes.size(), -1) {
    for (size_t input = 0; input < graph_.inputs.size(); ++input) {
      if (input < request.pinned_inputs.size())
        wanted_[producer_index(graph_.inputs[input])] = request.pinned_inputs[input];
    }
  }

  std::vector<int32_t> run() {
    for (int round = 0; round < kMaxRounds; ++round) {
      for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
        if (!generator(id)) chosen_[static_cast<size_t>(id)] = choose(id);
      }
      const bool carries = improve_carries();
      if (!place_fed_inputs() && !carries) break;
    }
    std::vector<int32_t> result(problem_.problem.nodes.size());
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      if (problem_.node_of[id] >= 0) result[static_cast<size_t>(problem_.node_of[id])] = chosen_[id];
    }
    return result;
  }

 private:
  size_t producer_index(ValueId value) const {
    return static_cast<size_t>(graph_.values[static_cast<size_t>(value)].producer);
  }
  bool generator(NodeId id) const { return problem_.tables[static_cast<size_t>(id)] == nullptr; }
  const tensor::Shape& shape(ValueId value) const { return graph_.values[static_cast<size_t>(value)].shape; }
  const std::vector<Strategy>& strategies(NodeId id) const {
    return problem_.tables[static_cast<size_t>(id)]->strategies;
  }

  const ShardingSpec* spec(ValueId value) const {
    const hlo::Value& made = graph_.values[static_cast<size_t>(value)];
    const int32_t choice = chosen_[static_cast<size_t>(made.producer)];
    if (choice < 0) return nullptr;
    return &strategies(made.producer)[static_cast<size_t>(choice)].results[static_cast<size_t>(made.result)];
  }

  int32_t choose(NodeId id) {
    const Node& node = graph_.nodes[static_cast<size_t>(id)];
    if (node.kind != Node::Kind::kOperation) return index_of_result(id, wanted_of_free(id));
    int32_t best = -1;
    std::tuple<bool, int64_t, double> best_cost;  // Forbidden only if all is.
    const int followed = problem_.followed[static_cast<size_t>(id)];
    const ShardingSpec* leader = followed < 0 ? nullptr : spec(node.operands[static_cast<size_t>(followed)]);
    for (size_t k = 0; k < strategies(id).size(); ++k) {
      const Strategy& strategy = strategies(id)[k];
      if (scatters(strategy)) continue;
      if (leader != nullptr && strategy.operands[static_cast<size_t>(followed)] != *leader) continue;
      const auto cost = std::tuple_cat(std::tuple(forbidden(id, k)), cost_of(node, strategy));
      if (best >= 0 && cost >= best_cost) continue;
      best = static_cast<int32_t>(k);
      best_cost = cost;
    }
    ALPA_CHECK(best >= 0);
    return best;
  }

  // Who uses a sum is not known yet: all have it whole.
  static bool scatters(const Strategy& strategy) {
    return std::any_of(strategy.communication.begin(), strategy.communication.end(),
                       [](const Communication& one) { return one.kind == hlo::Opcode::kReduceScatter; });
  }

  // Operands that need a collective to be where the strategy wants them, then seconds.
  std::tuple<int64_t, double> cost_of(const Node& node, const Strategy& strategy) {
    int64_t moved = 0;
    double seconds = strategy.communication_seconds;
    for (size_t k = 0; k < node.operands.size(); ++k) {
      const ShardingSpec* have = spec(node.operands[k]);
      if (have == nullptr) continue;
      const double change = reshard_.seconds(shape(node.operands[k]), *have, strategy.operands[k]);
      moved += change > 0;
      seconds += change;
    }
    return {moved, seconds};
  }

  ShardingSpec wanted_of_free(NodeId id) const {
    const Node& node = graph_.nodes[static_cast<size_t>(id)];
    if (wanted_[static_cast<size_t>(id)]) return *wanted_[static_cast<size_t>(id)];
    for (const hlo::Tie& tie : graph_.ties) {
      if (tie.to != node.results[0]) continue;
      const ShardingSpec* from = spec(tie.from);
      if (from != nullptr) return *from;
    }
    return ShardingSpec::replicated(shape(node.results[0]).rank());
  }

  bool forbidden(NodeId id, size_t strategy) const {
    const auto number = static_cast<size_t>(problem_.node_of[static_cast<size_t>(id)]);
    return problem_.problem.nodes[number].costs[strategy] >= solver::kForbidden;
  }

  // What is wanted, or of what is allowed the nearest to it.
  int32_t index_of_result(NodeId id, const ShardingSpec& wanted) {
    const tensor::Shape& array = shape(graph_.nodes[static_cast<size_t>(id)].results[0]);
    int32_t best = -1;
    double best_seconds = 0;
    for (size_t k = 0; k < strategies(id).size(); ++k) {
      if (forbidden(id, k)) continue;
      const double seconds = reshard_.seconds(array, wanted, strategies(id)[k].results[0]);
      const bool same = strategies(id)[k].results[0] == wanted;
      if (same || best < 0 || seconds < best_seconds) {
        best = static_cast<int32_t>(k);
        best_seconds = seconds;
      }
      if (same) break;
    }
    return std::max(best, 0);
  }

  // Gives a carry the placement of the body's result if the initial value gets there without communication.
  bool improve_carries() {
    bool changed = false;
    for (const hlo::Tie& tie : graph_.ties) {
      const size_t id = producer_index(tie.to);
      if (graph_.nodes[id].kind != Node::Kind::kCarry || wanted_[id]) continue;
      const ShardingSpec* root = spec(tie.from);
      const ShardingSpec* carry = spec(tie.to);
      if (root == nullptr || *root == *carry || reshard_.seconds(shape(tie.to), *carry, *root) > 0) continue;
      wanted_[id] = *root;
      changed = true;
    }
    return changed;
  }

  // Gives an input that is free to lie anywhere, as an accumulator is, the placement of the output that feeds it.
  bool place_fed_inputs() {
    bool changed = false;
    for (const Feed& feed : request_.feeds) {
      const ValueId input = graph_.inputs[static_cast<size_t>(feed.input)];
      const ShardingSpec* output = spec(graph_.outputs[static_cast<size_t>(feed.output)]);
      std::optional<ShardingSpec>& wanted = wanted_[producer_index(input)];
      if (wanted || output == nullptr || *output == *spec(input)) continue;
      wanted = *output;
      changed = true;
    }
    return changed;
  }

  const IntraRequest& request_;
  const hlo::ValueGraph& graph_;
  const IntraProblem& problem_;
  cost::ReshardModel& reshard_;
  std::vector<std::optional<ShardingSpec>> wanted_;
  std::vector<int32_t> chosen_;  ///< By graph node.
};

}  // namespace

std::vector<int32_t> propagate(const IntraRequest& request, const IntraProblem& problem, cost::ReshardModel& reshard) {
  return Propagation(request, problem, reshard).run();
}

}  // namespace alpa::planner
