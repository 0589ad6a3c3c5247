#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alpa/sharding/spec.h"

namespace alpa::sharding {

/// What is asked of a placement: of each dim the axes that divide it (none: it is whole), or nothing.
struct SpecPattern {
  std::vector<std::optional<Tile>> dims;

  SpecPattern() = default;
  /// What equals `spec`.
  explicit SpecPattern(const ShardingSpec& spec) : dims(spec.dims.begin(), spec.dims.end()) {}

  int rank() const { return static_cast<int>(dims.size()); }
  bool matches(const ShardingSpec& spec) const;
  /// The one placement that matches, if every dim is asked for.
  std::optional<ShardingSpec> exact() const;
  /// The placement that matches and divides least: dims that nothing is asked of are whole.
  ShardingSpec least() const;

  bool operator==(const SpecPattern&) const = default;
};

/// "(x, ?, None)": "?" for a dim of which nothing is asked.
std::string to_string(const SpecPattern& pattern, const mesh::LogicalMesh& mesh);

/// The text of a pattern as written: one entry a dim, a dim the names of its axes or nothing where it is "?".
using AxisNames = std::vector<std::optional<std::vector<std::string>>>;

/// From "(None, x, (y+z), ?)", parentheses around all and blanks optional; None or - is a whole dim. Names are not
/// looked at. Errors: InvalidArgumentError that names `text`: no such form, a name used twice.
AxisNames parse_axis_names(std::string_view text);

/// The same on a mesh. `names` are what the mesh's axes are called, in order; empty: x, y, z. `rank` -1 takes any.
/// Errors: InvalidArgumentError that names `text`: unknown axis, axis used twice, wrong number of dims; or that there
/// are not as many `names` as axes.
SpecPattern parse_pattern(std::string_view text, const mesh::LogicalMesh& mesh, int rank,
                          const std::vector<std::string>& names = {});

/// Errors: InvalidArgumentError, which says what to write instead, unless some placement of an array of `shape`
/// matches: its dims must be multiples of their parts, the axes of a dim in the mesh's order and each of more than one
/// device.
void check_pattern(const SpecPattern& pattern, const tensor::Shape& shape, const mesh::LogicalMesh& mesh);

}  // namespace alpa::sharding
