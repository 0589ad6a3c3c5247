#include "alpa/planner/intra/strategy.h"

#include <algorithm>
#include <functional>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/flops.h"
#include "alpa/hlo/summed_dims.h"
#include "alpa/planner/intra/idle_dims.h"

namespace alpa::planner {
namespace {

using sharding::ShardingSpec;

ShardingSpec& at(std::vector<ShardingSpec>& specs, size_t index) { return specs[index]; }

// True if two factors that the rule keeps apart are both divided and an axis holds copies.
bool divides_apart(const ShardingRule& rule, const mesh::LogicalMesh& mesh, const std::vector<int>& factor_of) {
  const auto divided = [&](int factor) {
    return std::find(factor_of.begin(), factor_of.end(), factor) != factor_of.end();
  };
  bool copies = false;
  for (int axis = 0; axis < mesh.num_axes(); ++axis)
    copies |= mesh.size(axis) > 1 && factor_of[static_cast<size_t>(axis)] < 0;
  return copies && std::any_of(rule.apart.begin(), rule.apart.end(),
                               [&](const auto& pair) { return divided(pair.first) && divided(pair.second); });
}

// factor_of[axis]: index into the rule's factors, or -1. Without its communication.
std::optional<Strategy> make_strategy(const RuleRequest& request, const ShardingRule& rule,
                                      const mesh::LogicalMesh& mesh, const std::vector<int>& factor_of) {
  if (divides_apart(rule, mesh, factor_of)) return std::nullopt;
  Strategy strategy;
  for (const tensor::Shape& shape : request.operands)
    strategy.operands.push_back(ShardingSpec::replicated(shape.rank()));
  for (const tensor::Shape& shape : request.results) strategy.results.push_back(ShardingSpec::replicated(shape.rank()));
  std::vector<int64_t> parts(rule.factors.size(), 1);
  for (int axis = 0; axis < mesh.num_axes(); ++axis) {
    const int index = factor_of[static_cast<size_t>(axis)];
    if (index < 0) continue;
    const Factor& factor = rule.factors[static_cast<size_t>(index)];
    parts[static_cast<size_t>(index)] *= mesh.size(axis);
    if (factor.size % parts[static_cast<size_t>(index)] != 0) return std::nullopt;
    for (size_t k = 0; k < factor.operand_dims.size(); ++k) {
      if (factor.operand_dims[k] >= 0)
        at(strategy.operands, k).dims[static_cast<size_t>(factor.operand_dims[k])].push_back(axis);
    }
    for (size_t k = 0; k < factor.result_dims.size(); ++k) {
      if (factor.result_dims[k] >= 0)
        at(strategy.results, k).dims[static_cast<size_t>(factor.result_dims[k])].push_back(axis);
    }
  }
  return strategy;
}

// The axes that divide each reduction factor.
std::vector<std::vector<int>> reduced_axes(const ShardingRule& rule, const std::vector<int>& factor_of) {
  std::vector<std::vector<int>> reduced(rule.factors.size());
  for (size_t axis = 0; axis < factor_of.size(); ++axis) {
    if (factor_of[axis] < 0) continue;
    const auto index = static_cast<size_t>(factor_of[axis]);
    if (rule.factors[index].kind == Factor::Kind::kReduction) reduced[index].push_back(static_cast<int>(axis));
  }
  std::erase_if(reduced, [](const std::vector<int>& axes) { return axes.empty(); });
  return reduced;
}

void add_all_reduces(const std::vector<tensor::Shape>& results, const mesh::LogicalMesh& mesh,
                     const std::vector<int>& axes, Strategy& strategy) {
  if (axes.empty()) return;
  for (size_t k = 0; k < results.size(); ++k) {
    const auto local = local_shape(results[k], strategy.results[k], mesh);
    strategy.communication.push_back({hlo::Opcode::kAllReduce, tensor::byte_size(local), axes});
  }
}

// Dims of an operation's result over which its sums may be scattered: those that a factor may divide.
std::vector<size_t> scatter_dims(const RuleRequest& request, const ShardingRule& rule) {
  std::vector<size_t> dims;
  if (hlo::summed_dims(request.module, request.instruction).empty()) return dims;
  for (const Factor& factor : rule.factors) {
    if (factor.size > 1 && factor.result_dims[0] >= 0) dims.push_back(static_cast<size_t>(factor.result_dims[0]));
  }
  std::sort(dims.begin(), dims.end());
  return dims;
}

// `whole`, its one sum over `axes`, with each axis summed by an all-reduce or scattered over the dim of the result that
// the scattered axes divide further; the first is without any scatter.
void add_sums(const tensor::Shape& shape, const std::vector<size_t>& dims, const mesh::LogicalMesh& mesh,
              const Strategy& whole, const std::vector<int>& axes, std::vector<Strategy>& strategies) {
  std::vector<int> scattered;
  std::vector<size_t> scattered_dims;  // One an axis.
  std::vector<int> summed;
  const std::function<void(size_t, const ShardingSpec&)> place = [&](size_t next, const ShardingSpec& result) {
    if (next == axes.size()) {
      Strategy& strategy = strategies.emplace_back(whole);
      strategy.results[0] = result;
      if (!scattered.empty()) {
        const int64_t bytes = tensor::byte_size(local_shape(shape, whole.results[0], mesh));
        strategy.communication.push_back({hlo::Opcode::kReduceScatter, bytes, scattered});
      }
      add_all_reduces({shape}, mesh, summed, strategy);
      return;
    }
    const int axis = axes[next];
    summed.push_back(axis);
    place(next + 1, result);
    summed.pop_back();
    scattered.push_back(axis);
    for (const size_t dim : dims) {
      // Parts of two dims would take two reduce-scatters, which the passes do not always see.
      if (!scattered_dims.empty() && scattered_dims.back() != dim) continue;
      // A device's part must be a part of what it has: the axis is the dim's last.
      const std::vector<int> before = result.dims[dim].axes();
      if (!before.empty() && before.back() > axis) continue;
      ShardingSpec finer = result;
      finer.dims[dim].push_back(axis);
      if (!sharding::divides(finer, shape, mesh)) continue;
      scattered_dims.push_back(dim);
      place(next + 1, finer);
      scattered_dims.pop_back();
    }
    scattered.pop_back();
  };
  place(0, whole.results[0]);
}

// The ways to divide an operation as factor_of says: one, or several that sum differently.
void add_strategies(const RuleRequest& request, const ShardingRule& rule, const mesh::LogicalMesh& mesh,
                    const std::vector<int>& factor_of, std::vector<Strategy>& strategies) {
  std::optional<Strategy> strategy = make_strategy(request, rule, mesh, factor_of);
  if (!strategy) return;
  const std::vector<std::vector<int>> reduced = reduced_axes(rule, factor_of);
  const std::vector<size_t> dims = scatter_dims(request, rule);
  if (reduced.size() == 1 && !dims.empty())
    return add_sums(request.results[0], dims, mesh, *strategy, reduced[0], strategies);
  for (const std::vector<int>& axes : reduced) add_all_reduces(request.results, mesh, axes, *strategy);
  strategies.push_back(std::move(*strategy));
}

int64_t parts_of_work(const ShardingRule& rule, const mesh::LogicalMesh& mesh, const Strategy& strategy) {
  int64_t parts = 1;
  for (const Factor& factor : rule.factors) {
    for (size_t k = 0; k < factor.operand_dims.size(); ++k) {
      if (factor.operand_dims[k] < 0) continue;
      parts *= num_shards(strategy.operands[k].dims[static_cast<size_t>(factor.operand_dims[k])], mesh);
      break;
    }
  }
  return parts;
}

int64_t local_bytes(const std::vector<tensor::Shape>& shapes, const std::vector<ShardingSpec>& specs,
                    const mesh::LogicalMesh& mesh) {
  int64_t bytes = 0;
  for (size_t k = 0; k < shapes.size(); ++k) {
    if (shapes[k].is_array()) bytes += tensor::byte_size(local_shape(shapes[k], specs[k], mesh));
  }
  return bytes;
}

bool scatters(const Strategy& strategy) {
  return std::any_of(strategy.communication.begin(), strategy.communication.end(),
                     [](const Communication& one) { return one.kind == hlo::Opcode::kReduceScatter; });
}

void keep_most_divided(std::vector<Strategy>& strategies, const ShardingRule& rule, const mesh::LogicalMesh& mesh) {
  int64_t most = 1;
  for (const Strategy& strategy : strategies) most = std::max(most, parts_of_work(rule, mesh, strategy));
  std::erase_if(strategies, [&](const Strategy& strategy) { return parts_of_work(rule, mesh, strategy) < most; });
}

}  // namespace

std::vector<Strategy> enumerate_strategies(const RuleRequest& request, const ShardingRule& rule,
                                           const mesh::LogicalMesh& mesh) {
  std::vector<Strategy> result;
  std::vector<int> factor_of(static_cast<size_t>(mesh.num_axes()), -1);
  const std::function<void(int)> place = [&](int axis) {
    if (axis == mesh.num_axes()) {
      add_strategies(request, rule, mesh, factor_of, result);
      return;
    }
    factor_of[static_cast<size_t>(axis)] = -1;
    place(axis + 1);
    if (mesh.size(axis) == 1) return;
    for (int factor = 0; factor < static_cast<int>(rule.factors.size()); ++factor) {
      if (rule.factors[static_cast<size_t>(factor)].size == 1) continue;
      factor_of[static_cast<size_t>(axis)] = factor;
      place(axis + 1);
    }
    factor_of[static_cast<size_t>(axis)] = -1;
  };
  place(0);
  return result;
}

std::vector<char> StrategyMaker::idle_of(const hlo::Node& node, const ShardingRule& rule) const {
  std::vector<char> idle;
  if (node.kind == hlo::Node::Kind::kOperation) {
    for (const Factor& factor : rule.factors)
      idle.push_back(options_.idle_dims != nullptr && options_.idle_dims->idle(node, factor));
  } else {
    const hlo::ValueId value = node.results[0];
    for (int dim = 0; dim < graph_.values[static_cast<size_t>(value)].shape.rank(); ++dim)
      idle.push_back(options_.idle_dims != nullptr && options_.idle_dims->idle(value, dim));
  }
  return idle;
}

std::vector<Strategy> StrategyMaker::free_strategies(const tensor::Shape& shape, const std::vector<char>& idle) const {
  std::vector<Strategy> strategies;
  for (const ShardingSpec& spec : sharding::enumerate_specs(shape, collectives_.logical_mesh())) {
    bool divides_idle = false;
    for (size_t dim = 0; dim < idle.size(); ++dim) divides_idle |= idle[dim] && !spec.dims[dim].empty();
    if (!divides_idle) strategies.push_back({{}, {spec}, {}});
  }
  return strategies;
}

std::vector<Strategy> StrategyMaker::operation_strategies(const RuleRequest& request, ShardingRule rule,
                                                          const std::vector<char>& idle) const {
  const mesh::LogicalMesh& mesh = collectives_.logical_mesh();
  for (size_t factor = 0; factor < idle.size(); ++factor) {
    if (idle[factor]) rule.factors[factor].size = 1;
  }
  std::vector<Strategy> strategies = enumerate_strategies(request, rule, mesh);
  if (request.instruction.opcode == hlo::Opcode::kReduce && !options_.scatter_reductions)
    std::erase_if(strategies, scatters);
  if (!hlo::is_contraction(request.instruction.opcode)) return strategies;
  if (!options_.whole_contractions) keep_most_divided(strategies, rule, mesh);
  const double seconds = static_cast<double>(hlo::flops(request.computation, request.instruction)) /
                         collectives_.cluster().device.flops_for(tensor::name(request.instruction.shape.dtype));
  for (Strategy& strategy : strategies)
    strategy.compute_seconds = seconds / static_cast<double>(parts_of_work(rule, mesh, strategy));
  return strategies;
}

std::shared_ptr<const StrategyTable> StrategyMaker::table(hlo::NodeId id) {
  const mesh::LogicalMesh& mesh = collectives_.logical_mesh();
  const hlo::Node& node = graph_.nodes[static_cast<size_t>(id)];
  const RuleBook::Entry& entry = rules_.entry(id);
  const std::vector<char> idle = idle_of(node, entry.rule);
  auto& known = known_[{entry.id, idle}];
  if (known != nullptr) return known;

  auto table = std::make_shared<StrategyTable>();
  table->id = static_cast<int32_t>(known_.size()) - 1;
  const RuleRequest request = rules_.request(id);
  table->strategies = node.kind == hlo::Node::Kind::kOperation ? operation_strategies(request, entry.rule, idle)
                                                               : free_strategies(request.results[0], idle);
  for (Strategy& strategy : table->strategies) {
    const int64_t bytes =
        local_bytes(request.operands, strategy.operands, mesh) + local_bytes(request.results, strategy.results, mesh);
    strategy.traffic_seconds = static_cast<double>(bytes) / collectives_.cluster().device.memory_bandwidth;
    for (const Communication& one : strategy.communication) {
      strategy.communication_seconds += collectives_.seconds(one.kind, one.bytes, one.axes);
    }
  }
  known = std::move(table);
  return known;
}

}  // namespace alpa::planner
