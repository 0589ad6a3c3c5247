#include "alpa/sharding/reshard.h"

#include <algorithm>
#include <limits>

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
  return std::max(tensor::byte_size(local_shape(shape, before, mesh)), tensor::byte_size(local_shape(shape, step.result, mesh)));
}

std::vector<ReshardStep> next_steps(const tensor::Shape& shape, const ShardingSpec& from, const mesh::LogicalMesh& mesh) {
  return StepList(shape, from, mesh).run();
}

ReshardPaths::ReshardPaths(const tensor::Shape& shape, const ShardingSpec& from, const mesh::LogicalMesh& mesh,
                           const StepCost& cost) {
  reached_.push_back({.spec = from, .seconds = 0, .count = 0, .previous = -1, .step = {}, .settled = false});
  while (true) {
    int best = -1;
    for (int k = 0; k < static_cast<int>(reached_.size()); ++k) {
      const Reached& candidate = reached_[static_cast<size_t>(k)];
      if (candidate.settled) continue;
      if (best < 0 || std::pair(candidate.seconds, candidate.count) <
                          std::pair(reached_[static_cast<size_t>(best)].seconds, reached_[static_cast<size_t>(best)].count)) {
        best = k;
      }
    }
    if (best < 0) return;
    reached_[static_cast<size_t>(best)].settled = true;
    const Reached here = reached_[static_cast<size_t>(best)];
    for (ReshardStep& step : next_steps(shape, here.spec, mesh)) {
      const int64_t bytes = step_bytes(shape, here.spec, step, mesh);
      const double seconds = here.seconds + (step.kind == Kind::kSlice ? 0 : cost(step.kind, bytes, step.axes));
      const int known = find(step.result);
      if (known < 0) {
        Reached next{.spec = step.result, .seconds = seconds, .count = here.count + 1, .previous = best, .step = step, .settled = false};
        reached_.push_back(std::move(next));
        continue;
      }
      Reached& other = reached_[static_cast<size_t>(known)];
      if (other.settled || std::pair(seconds, here.count + 1) >= std::pair(other.seconds, other.count)) continue;
      other.seconds = seconds;
      other.count = here.count + 1;
      other.previous = best;
      other.step = step;
    }
  }
}

int ReshardPaths::find(const ShardingSpec& spec) const {
  for (size_t k = 0; k < reached_.size(); ++k) {
    if (reached_[k].spec == spec) return static_cast<int>(k);
  }
  return -1;
}

double ReshardPaths::seconds(const ShardingSpec& to) const {
  const int at = find(to);
  ALPA_CHECK(at >= 0);
  return reached_[static_cast<size_t>(at)].seconds;
}

std::vector<ReshardStep> ReshardPaths::steps(const ShardingSpec& to) const {
  int at = find(to);
  ALPA_CHECK(at >= 0);
  std::vector<ReshardStep> result;
  for (; reached_[static_cast<size_t>(at)].previous >= 0; at = reached_[static_cast<size_t>(at)].previous) {
    result.push_back(reached_[static_cast<size_t>(at)].step);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

}  // namespace alpa::sharding
