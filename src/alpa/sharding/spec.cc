#include "alpa/sharding/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "alpa/base/error.h"

namespace alpa::sharding {

Tile::Tile(const std::vector<int>& axes) {
  for (const int axis : axes) push_back(axis);
}

void Tile::push_back(int axis) {
  ALPA_CHECK(count_ < mesh::kMaxAxes);
  axes_[static_cast<size_t>(count_++)] = static_cast<int8_t>(axis);
}

bool Tile::contains(int axis) const {
  return std::find(axes_.begin(), axes_.begin() + count_, axis) != axes_.begin() + count_;
}

std::optional<int> ShardingSpec::dim_of(int axis) const {
  for (int dim = 0; dim < rank(); ++dim) {
    if (dims[static_cast<size_t>(dim)].contains(axis)) return dim;
  }
  return std::nullopt;
}

ShardingSpec ShardingSpec::without(const std::vector<int>& axes) const {
  ShardingSpec result = *this;
  for (Tile& tile : result.dims) {
    std::vector<int> left = tile.axes();
    std::erase_if(left, [&](int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); });
    tile = Tile(left);
  }
  return result;
}

int64_t num_shards(const Tile& tile, const mesh::LogicalMesh& mesh) {
  int64_t parts = 1;
  for (int k = 0; k < tile.size(); ++k) parts *= mesh.size(tile[k]);
  return parts;
}

int64_t num_shards(const ShardingSpec& spec, const mesh::LogicalMesh& mesh) {
  int64_t parts = 1;
  for (const Tile& tile : spec.dims) parts *= num_shards(tile, mesh);
  return parts;
}

bool divides(const ShardingSpec& spec, const tensor::Shape& shape, const mesh::LogicalMesh& mesh) {
  for (size_t dim = 0; dim < spec.dims.size(); ++dim) {
    const int64_t parts = num_shards(spec.dims[dim], mesh);
    if (parts > 1 && (shape.dims[dim] == 0 || shape.dims[dim] % parts != 0)) return false;
  }
  return true;
}

tensor::Shape local_shape(const tensor::Shape& shape, const ShardingSpec& spec, const mesh::LogicalMesh& mesh) {
  ALPA_CHECK(spec.rank() == shape.rank());
  tensor::Shape local = shape;
  for (size_t dim = 0; dim < spec.dims.size(); ++dim) {
    const int64_t parts = num_shards(spec.dims[dim], mesh);
    local.dims[dim] = (local.dims[dim] + parts - 1) / parts;
  }
  return local;
}

std::string to_string(const ShardingSpec& spec, const mesh::LogicalMesh& mesh) {
  std::string text = "(";
  for (size_t dim = 0; dim < spec.dims.size(); ++dim) {
    if (dim > 0) text += ", ";
    const Tile& tile = spec.dims[dim];
    if (tile.empty()) text += "None";
    if (tile.size() == 1) text += mesh.axis(tile[0]).name;
    if (tile.size() > 1) {
      for (int k = 0; k < tile.size(); ++k) text += (k == 0 ? "(" : "+") + mesh.axis(tile[k]).name;
      text += ")";
    }
  }
  return text + ")";
}

std::vector<ShardingSpec> enumerate_specs(const tensor::Shape& shape, const mesh::LogicalMesh& mesh) {
  std::vector<ShardingSpec> result;
  ShardingSpec spec = ShardingSpec::replicated(shape.rank());
  const std::function<void(int)> place = [&](int axis) {
    if (axis == mesh.num_axes()) {
      if (divides(spec, shape, mesh)) result.push_back(spec);
      return;
    }
    place(axis + 1);
    if (mesh.size(axis) == 1) return;
    for (Tile& tile : spec.dims) {
      tile.push_back(axis);
      place(axis + 1);
      tile.pop_back();
    }
  };
  place(0);
  return result;
}

}  // namespace alpa::sharding
