#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace alpa::mesh {

inline constexpr int kMaxAxes = 3;

/// One axis of a logical mesh.
struct MeshAxis {
  std::string name;  ///< "x", "y" or "z".
  int64_t size = 1;
  bool operator==(const MeshAxis&) const = default;
};

/// Devices 0..n-1 seen as an array of 1 to 3 axes, row-major: the last axis runs over neighbours.
class LogicalMesh {
 public:
  /// Errors: InvalidArgumentError unless there are 1 to 3 sizes, each at least 1.
  explicit LogicalMesh(const std::vector<int64_t>& sizes);
  /// From "8", "2x4" or "2x2x2". Errors: InvalidArgumentError that names `text`.
  static LogicalMesh parse(std::string_view text);

  int num_axes() const { return static_cast<int>(axes_.size()); }
  const MeshAxis& axis(int index) const { return axes_.at(static_cast<size_t>(index)); }
  int64_t size(int index) const { return axis(index).size; }
  const std::vector<MeshAxis>& axes() const { return axes_; }
  int64_t num_devices() const { return num_devices_; }
  /// Distance between neighbours along an axis, in devices.
  int64_t stride(int index) const;
  std::string to_string() const;  ///< "2x4"

  bool operator==(const LogicalMesh&) const = default;

 private:
  std::vector<MeshAxis> axes_;
  int64_t num_devices_ = 1;
};

/// All meshes of `num_devices` devices with 1 to `max_axes` axes, no axis of size 1 (but "1" itself); fewer axes first,
/// then by size. Order of axes counts: 2x4 and 4x2 are two.
std::vector<LogicalMesh> factorizations(int64_t num_devices, int max_axes = kMaxAxes);

}  // namespace alpa::mesh
