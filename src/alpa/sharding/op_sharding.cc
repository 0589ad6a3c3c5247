#include "alpa/sharding/op_sharding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "alpa/base/error.h"
#include "alpa/sharding/spec.h"

namespace alpa::sharding {
namespace {

int64_t product(const std::vector<int64_t>& values) {
  int64_t result = 1;
  for (const int64_t value : values) {
    require<InvalidArgumentError>(value > 0 && !__builtin_mul_overflow(result, value, &result) && result <= 1 << 20,
                                  "sharding", "a tile assignment has the dims [{}]", fmt::join(values, ","));
  }
  return result;
}

// transpose(reshape(0..n-1, dims), perm), flattened.
std::vector<int64_t> transposed_iota(const std::vector<int64_t>& dims, const std::vector<int>& perm) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t k = dims.size(); k-- > 1;) strides[k - 1] = strides[k] * dims[k];
  std::vector<int64_t> result{0};
  for (const int source : perm) {
    std::vector<int64_t> next;
    for (const int64_t base : result) {
      for (int64_t k = 0; k < dims[static_cast<size_t>(source)]; ++k) {
        next.push_back(base + k * strides[static_cast<size_t>(source)]);
      }
    }
    result = std::move(next);
  }
  return result;
}

// Devices in the order of tiles, copies of a tile ascending: equal for equal placements.
std::vector<int64_t> canonical(std::vector<int64_t> devices, int64_t tiles) {
  const auto copies = static_cast<std::ptrdiff_t>(static_cast<int64_t>(devices.size()) / tiles);
  for (auto at = devices.begin(); at != devices.end(); at += copies) std::sort(at, at + copies);
  return devices;
}

}  // namespace

std::vector<int64_t> tile_devices(const OpSharding& sharding) {
  const int64_t tiles = product(sharding.tile_dims);
  if (!sharding.devices.empty()) {
    require<InvalidArgumentError>(static_cast<int64_t>(sharding.devices.size()) == tiles, "sharding",
                                  "{} devices for the tiles [{}]", sharding.devices.size(),
                                  fmt::join(sharding.tile_dims, ","));
    return sharding.devices;
  }
  std::vector<int> sorted = sharding.iota_perm;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> identity(sharding.iota_reshape.size());
  std::iota(identity.begin(), identity.end(), 0);
  require<InvalidArgumentError>(product(sharding.iota_reshape) == tiles && sorted == identity, "sharding",
                                "iota [{}] with permutation [{}] does not fit the tiles [{}]",
                                fmt::join(sharding.iota_reshape, ","), fmt::join(sharding.iota_perm, ","),
                                fmt::join(sharding.tile_dims, ","));
  return transposed_iota(sharding.iota_reshape, sharding.iota_perm);
}

OpSharding to_op_sharding(const ShardingSpec& spec, const mesh::LogicalMesh& mesh) {
  OpSharding result;
  const int64_t shards = num_shards(spec, mesh);
  if (shards == 1) return result;
  result.type = OpSharding::Type::kOther;
  std::vector<bool> used(static_cast<size_t>(mesh.num_axes()));
  for (const Tile& tile : spec.dims) {
    result.tile_dims.push_back(num_shards(tile, mesh));
    for (int k = 0; k < tile.size(); ++k) {
      result.iota_perm.push_back(tile[k]);
      used[static_cast<size_t>(tile[k])] = true;
    }
  }
  if (shards < mesh.num_devices()) {
    result.tile_dims.push_back(mesh.num_devices() / shards);
    result.replicate_on_last_tile_dim = true;
  }
  for (int axis = 0; axis < mesh.num_axes(); ++axis) {
    result.iota_reshape.push_back(mesh.size(axis));
    if (!used[static_cast<size_t>(axis)]) result.iota_perm.push_back(axis);
  }
  return result;
}

ShardingSpec from_op_sharding(const OpSharding& sharding, int rank, const mesh::LogicalMesh& mesh) {
  if (sharding.type == OpSharding::Type::kReplicated) return ShardingSpec::replicated(rank);
  const auto fail = [&]() {
    raise<UnsupportedError>("sharding", "tiles [{}] are no sharding of {} dims over the mesh {}",
                            fmt::join(sharding.tile_dims, ","), rank, mesh.to_string());
  };
  if (sharding.type != OpSharding::Type::kOther || static_cast<int>(sharding.tile_dims.size()) < rank) fail();
  for (const auto type : sharding.last_tile_dims) {
    if (type != OpSharding::Type::kReplicated) fail();
  }
  const auto devices = tile_devices(sharding);
  if (static_cast<int64_t>(devices.size()) != mesh.num_devices()) fail();
  int64_t tiles = 1;
  for (int dim = 0; dim < rank; ++dim) tiles *= sharding.tile_dims[static_cast<size_t>(dim)];
  const auto wanted = canonical(devices, tiles);

  ShardingSpec spec = ShardingSpec::replicated(rank);
  std::optional<ShardingSpec> found;
  std::vector<bool> used(static_cast<size_t>(mesh.num_axes()));
  const std::function<void(int)> fill = [&](int dim) {
    if (found) return;
    if (dim == rank) {
      const OpSharding candidate = to_op_sharding(spec, mesh);
      if (candidate.type == OpSharding::Type::kReplicated ? tiles == 1
                                                          : canonical(tile_devices(candidate), tiles) == wanted) {
        found = spec;
      }
      return;
    }
    Tile& tile = spec.dims[static_cast<size_t>(dim)];
    if (num_shards(tile, mesh) == sharding.tile_dims[static_cast<size_t>(dim)]) fill(dim + 1);
    for (int axis = 0; axis < mesh.num_axes() && !found; ++axis) {
      if (used[static_cast<size_t>(axis)] || mesh.size(axis) == 1) continue;
      used[static_cast<size_t>(axis)] = true;
      tile.push_back(axis);
      fill(dim);
      tile.pop_back();
      used[static_cast<size_t>(axis)] = false;
    }
  };
  fill(0);
  if (!found) fail();
  return *found;
}

}  // namespace alpa::sharding
