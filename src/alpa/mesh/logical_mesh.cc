#include "alpa/mesh/logical_mesh.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <functional>

#include "alpa/base/error.h"

namespace alpa::mesh {

LogicalMesh::LogicalMesh(const std::vector<int64_t>& sizes) {
  require<InvalidArgumentError>(!sizes.empty() && sizes.size() <= kMaxAxes, "mesh", "{} axes: a mesh has 1 to {}",
                                sizes.size(), kMaxAxes);
  for (size_t k = 0; k < sizes.size(); ++k) {
    require<InvalidArgumentError>(sizes[k] >= 1 && sizes[k] <= 1 << 20, "mesh",
                                  "axis {} has size {}: sizes are 1 to 2^20", "xyz"[k], sizes[k]);
    axes_.push_back({std::string(1, "xyz"[k]), sizes[k]});
    num_devices_ *= sizes[k];
  }
  require<InvalidArgumentError>(num_devices_ <= 1 << 20, "mesh", "{} devices: at most 2^20", num_devices_);
}

LogicalMesh LogicalMesh::parse(std::string_view text) {
  std::vector<int64_t> sizes;
  std::string_view rest = text;
  while (true) {
    const size_t cut = rest.find('x');
    const std::string_view part = rest.substr(0, cut);
    int64_t size = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), size);
    require<InvalidArgumentError>(error == std::errc() && end == part.data() + part.size() && size >= 1, "mesh",
                                  "\"{}\" is no mesh: write sizes like 8, 2x4 or 2x2x2", text);
    sizes.push_back(size);
    if (cut == std::string_view::npos) break;
    rest.remove_prefix(cut + 1);
  }
  return LogicalMesh(sizes);
}

int64_t LogicalMesh::stride(int index) const {
  int64_t stride = 1;
  for (int k = index + 1; k < num_axes(); ++k) stride *= size(k);
  return stride;
}

std::string LogicalMesh::to_string() const {
  std::vector<int64_t> sizes;
  for (const MeshAxis& axis : axes_) sizes.push_back(axis.size);
  return fmt::format("{}", fmt::join(sizes, "x"));
}

std::vector<LogicalMesh> factorizations(int64_t num_devices, int max_axes) {
  std::vector<LogicalMesh> result{LogicalMesh({num_devices})};
  std::vector<int64_t> sizes;
  const std::function<void(int64_t, int)> extend = [&](int64_t rest, int axes) {
    if (axes == 1) {
      if (rest == 1) return;
      sizes.push_back(rest);
      result.emplace_back(sizes);
      sizes.pop_back();
      return;
    }
    for (int64_t size = 2; size <= rest; ++size) {
      if (rest % size != 0) continue;
      sizes.push_back(size);
      extend(rest / size, axes - 1);
      sizes.pop_back();
    }
  };
  for (int axes = 2; axes <= max_axes; ++axes) extend(num_devices, axes);
  return result;
}

}  // namespace alpa::mesh
