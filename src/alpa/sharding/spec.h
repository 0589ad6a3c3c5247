#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alpa/mesh/logical_mesh.h"
#include "alpa/sharding/op_sharding.h"
#include "alpa/tensor/shape.h"

namespace alpa::sharding {

/// The mesh axes that one dim is divided over, major first; at most kMaxAxes.
class Tile {
 public:
  Tile() = default;
  explicit Tile(const std::vector<int>& axes);

  int size() const { return count_; }
  bool empty() const { return count_ == 0; }
  int operator[](int index) const { return axes_[static_cast<size_t>(index)]; }
  int back() const { return axes_[static_cast<size_t>(count_ - 1)]; }
  void push_back(int axis);
  void pop_back() {
    --count_;
    axes_[static_cast<size_t>(count_)] = 0;
  }
  bool contains(int axis) const;
  std::vector<int> axes() const { return {axes_.begin(), axes_.begin() + count_}; }

  auto operator<=>(const Tile&) const = default;

 private:
  std::array<int8_t, mesh::kMaxAxes> axes_{};
  int8_t count_ = 0;
};

/// How an array lies on a logical mesh: for each dim the axes that divide it. Axes that no dim names hold copies.
/// An axis divides at most one dim.
struct ShardingSpec {
  std::vector<Tile> dims;

  ShardingSpec() = default;
  explicit ShardingSpec(std::vector<Tile> tiles) : dims(std::move(tiles)) {}
  static ShardingSpec replicated(int rank) { return ShardingSpec(std::vector<Tile>(static_cast<size_t>(rank))); }

  int rank() const { return static_cast<int>(dims.size()); }
  /// The dim that the axis divides, if any.
  std::optional<int> dim_of(int axis) const;
  /// The same with no dim divided by any of `axes`.
  ShardingSpec without(const std::vector<int>& axes) const;

  auto operator<=>(const ShardingSpec&) const = default;
};

/// Parts that a tile cuts its dim into.
int64_t num_shards(const Tile& tile, const mesh::LogicalMesh& mesh);
/// Parts of the whole array: devices that hold different data.
int64_t num_shards(const ShardingSpec& spec, const mesh::LogicalMesh& mesh);

/// True if every dim is a multiple of its parts: nothing is padded. A dim of 0 has no parts.
bool divides(const ShardingSpec& spec, const tensor::Shape& shape, const mesh::LogicalMesh& mesh);

/// Shape on one device (rounded up where a dim is no multiple).
tensor::Shape local_shape(const tensor::Shape& shape, const ShardingSpec& spec, const mesh::LogicalMesh& mesh);

/// "(None, x, (y+z))"; a scalar is "()".
std::string to_string(const ShardingSpec& spec, const mesh::LogicalMesh& mesh);

/// From the text above, parentheses and blanks optional. `rank` -1 takes any.
/// Errors: InvalidArgumentError that names `text`: unknown axis, axis used twice, wrong number of dims.
ShardingSpec parse_spec(std::string_view text, const mesh::LogicalMesh& mesh, int rank);

/// All specs of an array with axes ascending in each dim and nothing padded; the replicated one first, then by dims.
std::vector<ShardingSpec> enumerate_specs(const tensor::Shape& shape, const mesh::LogicalMesh& mesh);

/// V2 (iota) form, `replicate_on_last_tile_dim` where axes hold copies. Axes of size 1 change nothing.
OpSharding to_op_sharding(const ShardingSpec& spec, const mesh::LogicalMesh& mesh);

/// Errors: UnsupportedError if no spec over this mesh places the devices so (the error prints the tiles).
ShardingSpec from_op_sharding(const OpSharding& sharding, int rank, const mesh::LogicalMesh& mesh);

}  // namespace alpa::sharding
