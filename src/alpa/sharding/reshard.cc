#include "alpa/sharding/reshard.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

#include "alpa/base/error.h"

namespace alpa::sharding {
namespace {

using Kind = ReshardStep::Kind;

class StepList {
 public:
  StepList(const tensor::Shape& shape, const ShardingSpec& from, const mesh::LogicalMesh& mesh)
      : shape_(shape), from_(from), mesh_(mesh) {
    for (int axis = 0; axis < mesh.num_axes(); ++axis) {
      if (mesh.size(axis) > 1 && !from.dim_of(axis)) free_.push_back(axis);
    }
  }

  std::vector<ReshardStep> run() {
    for (int dim = 0; dim < from_.rank(); ++dim) {
      slices(dim);
      gathers(dim);
      moves(dim);
      permutes(dim);
    }
    return std::move(steps_);
  }

 private:
  void add(Kind kind, std::vector<int> axes, ShardingSpec result) {
    if (divides(result, shape_, mesh_)) steps_.push_back({kind, std::move(axes), std::move(result)});
  }

  Tile& tile(ShardingSpec& spec, int dim) { return spec.dims[static_cast<size_t>(dim)]; }

  void slices(int dim) {
    for (const int axis : free_) {
      ShardingSpec result = from_;
      tile(result, dim).push_back(axis);
      add(Kind::kSlice, {axis}, std::move(result));
    }
  }

  void gathers(int dim) {
    ShardingSpec result = from_;
    std::vector<int> axes;
    while (!tile(result, dim).empty()) {
      axes.insert(axes.begin(), tile(result, dim).back());
      tile(result, dim).pop_back();
      add(Kind::kAllGather, axes, result);
    }
  }

  void moves(int dim) {
    if (from_.dims[static_cast<size_t>(dim)].empty()) return;
    for (int other = 0; other < from_.rank(); ++other) {
      if (other == dim) continue;
      ShardingSpec result = from_;
      const int axis = tile(result, dim).back();
      tile(result, dim).pop_back();
      tile(result, other).push_back(axis);
      add(Kind::kAllToAll, {axis}, std::move(result));
    }
  }

  // Another order of a dim's axes, or a free axis of the same size in the place of one.
  void permutes(int dim) {
    const std::vector<int> axes = from_.dims[static_cast<size_t>(dim)].axes();
    std::vector<int> order = axes;
    std::sort(order.begin(), order.end());
    do {
      if (order == axes) continue;
      ShardingSpec result = from_;
      tile(result, dim) = Tile(order);
      add(Kind::kCollectivePermute, axes, std::move(result));
    } while (std::next_permutation(order.begin(), order.end()));
    for (size_t k = 0; k < axes.size(); ++k) {
      for (const int axis : free_) {
        if (mesh_.size(axis) != mesh_.size(axes[k])) continue;
        std::vector<int> replaced = axes;
        replaced[k] = axis;
        ShardingSpec result = from_;
        tile(result, dim) = Tile(replaced);
        add(Kind::kCollectivePermute, {axes[k], axis}, std::move(result));
      }
    }
  }

  const tensor::Shape& shape_;
  const ShardingSpec& from_;
  const mesh::LogicalMesh& mesh_;
  std::vector<int> free_;
  std::vector<ReshardStep> steps_;
};

}  // namespace

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::kSlice: return "slice";
    case Kind::kAllGather: return "all-gather";
    case Kind::kAllToAll: return "all-to-all";
    case Kind::kCollectivePermute: return "collective-permute";
  }
  return "";
}

int64_t step_bytes(const tensor::Shape& shape, const ShardingSpec& before, const ReshardStep& step,
                   const mesh::LogicalMesh& mesh) {
  if (step.kind == Kind::kSlice) return 0;
  return std::max(tensor::byte_size(local_shape(shape, before, mesh)),
                  tensor::byte_size(local_shape(shape, step.result, mesh)));
}

std::vector<ReshardStep> next_steps(const tensor::Shape& shape, const ShardingSpec& from,
                                    const mesh::LogicalMesh& mesh) {
  return StepList(shape, from, mesh).run();
}

ReshardGraph::ReshardGraph(const tensor::Shape& shape, const mesh::LogicalMesh& mesh, const StepCost& cost) {
  std::vector<ShardingSpec> specs{ShardingSpec::replicated(shape.rank())};
  index_[specs[0]] = 0;
  for (size_t at = 0; at < specs.size();
       ++at) {  // every spec is reached from the replicated one by slices and permutes
    edges_.emplace_back();
    const ShardingSpec from = specs[at];
    for (ReshardStep& step : next_steps(shape, from, mesh)) {
      const auto [known, added] = index_.try_emplace(step.result, static_cast<int>(specs.size()));
      if (added) specs.push_back(step.result);
      const int64_t bytes = step_bytes(shape, from, step, mesh);
      const double seconds = step.kind == Kind::kSlice ? 0 : cost(step.kind, bytes, step.axes);
      edges_.back().push_back({known->second, seconds, std::move(step)});
    }
  }
  ways_.resize(specs.size());
}

int ReshardGraph::index(const ShardingSpec& spec) const {
  const auto found = index_.find(spec);
  ALPA_CHECK(found != index_.end());
  return found->second;
}

const ReshardGraph::Ways& ReshardGraph::ways_from(int from) {
  Ways& ways = ways_[static_cast<size_t>(from)];
  if (!ways.seconds.empty()) return ways;
  ways.seconds.assign(edges_.size(), std::numeric_limits<double>::infinity());
  ways.previous.assign(edges_.size(), -1);
  ways.previous_edge.assign(edges_.size(), -1);
  std::vector<int> steps(edges_.size(), std::numeric_limits<int>::max());
  using Entry = std::tuple<double, int, int>;  // seconds, steps, spec
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  ways.seconds[static_cast<size_t>(from)] = 0;
  steps[static_cast<size_t>(from)] = 0;
  queue.emplace(0.0, 0, from);
  while (!queue.empty()) {
    const auto [seconds, count, at] = queue.top();
    queue.pop();
    if (std::pair(seconds, count) > std::pair(ways.seconds[static_cast<size_t>(at)], steps[static_cast<size_t>(at)]))
      continue;
    for (size_t k = 0; k < edges_[static_cast<size_t>(at)].size(); ++k) {
      const Edge& edge = edges_[static_cast<size_t>(at)][k];
      const auto to = static_cast<size_t>(edge.to);
      if (std::pair(seconds + edge.seconds, count + 1) >= std::pair(ways.seconds[to], steps[to])) continue;
      ways.seconds[to] = seconds + edge.seconds;
      steps[to] = count + 1;
      ways.previous[to] = at;
      ways.previous_edge[to] = static_cast<int>(k);
      queue.emplace(ways.seconds[to], count + 1, edge.to);
    }
  }
  return ways;
}

const std::vector<double>& ReshardGraph::seconds_from(int from) { return ways_from(from).seconds; }

std::vector<ReshardStep> ReshardGraph::steps(int from, int to) {
  const Ways& ways = ways_from(from);
  std::vector<ReshardStep> result;
  for (int at = to; at != from; at = ways.previous[static_cast<size_t>(at)]) {
    const auto before = static_cast<size_t>(ways.previous[static_cast<size_t>(at)]);
    result.push_back(edges_[before][static_cast<size_t>(ways.previous_edge[static_cast<size_t>(at)])].step);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

}  // namespace alpa::sharding
