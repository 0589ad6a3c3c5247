#pragma once

#include <cstdint>
#include <vector>

namespace alpa::sharding {

/// XLA's OpSharding as plain data: how one value lies on the devices of a program.
struct OpSharding {
  enum class Type { kReplicated = 0, kMaximal = 1, kTuple = 2, kOther = 3, kManual = 4, kUnknown = 5, kUnreduced = 6 };

  Type type = Type::kReplicated;
  std::vector<int64_t> tile_dims;     ///< Tiles a dim, then the size of the subgroup dims.
  std::vector<int64_t> devices;       ///< V1: device of each tile, row-major.
  std::vector<int64_t> iota_reshape;  ///< V2: devices = transpose(reshape(iota, iota_reshape), iota_perm).
  std::vector<int> iota_perm;
  bool replicate_on_last_tile_dim = false;
  std::vector<Type> last_tile_dims;  ///< Meaning of the last tile dims; the newer form of the flag above.
  std::vector<OpSharding> elements;  ///< Of a tuple, flattened.

  bool operator==(const OpSharding&) const = default;
};

/// The device of each tile, row-major over `tile_dims`, whichever form holds it.
/// Errors: InvalidArgumentError if the numbers do not fit each other.
std::vector<int64_t> tile_devices(const OpSharding& sharding);

}  // namespace alpa::sharding
