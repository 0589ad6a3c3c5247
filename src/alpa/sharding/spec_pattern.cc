#include "alpa/sharding/spec_pattern.h"

#include <algorithm>

#include "alpa/base/error.h"

namespace alpa::sharding {

bool SpecPattern::matches(const ShardingSpec& spec) const {
  if (spec.rank() != rank()) return false;
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    if (dims[dim] && *dims[dim] != spec.dims[dim]) return false;
  }
  return true;
}

std::optional<ShardingSpec> SpecPattern::exact() const {
  const bool all = std::all_of(dims.begin(), dims.end(), [](const auto& dim) { return dim.has_value(); });
  return all ? std::optional(least()) : std::nullopt;
}

ShardingSpec SpecPattern::least() const {
  ShardingSpec spec = ShardingSpec::replicated(rank());
  for (size_t dim = 0; dim < dims.size(); ++dim) spec.dims[dim] = dims[dim].value_or(Tile());
  return spec;
}

std::string to_string(const SpecPattern& pattern, const mesh::LogicalMesh& mesh) {
  std::string text;
  for (const std::optional<Tile>& dim : pattern.dims) {
    if (!text.empty()) text += ", ";
    const std::string one = dim ? to_string(ShardingSpec({*dim}), mesh) : "(?)";
    text += one.substr(1, one.size() - 2);
  }
  return "(" + text + ")";
}

SpecPattern parse_pattern(std::string_view text, const mesh::LogicalMesh& mesh, int rank,
                          const std::vector<std::string>& names) {
  std::vector<std::string> axes = names;
  if (axes.empty()) {
    for (const mesh::MeshAxis& axis : mesh.axes()) axes.push_back(axis.name);
  }
  require<InvalidArgumentError>(static_cast<int>(axes.size()) == mesh.num_axes(), "sharding",
                                "{} axis names are given for the {} axes of mesh {}: give one for each", axes.size(),
                                mesh.num_axes(), mesh.to_string());
  SpecPattern pattern;
  for (const auto& dim : parse_axis_names(text)) {
    if (!dim) {
      pattern.dims.emplace_back();
      continue;
    }
    Tile tile;
    for (const std::string& name : *dim) {
      const auto known = std::find(axes.begin(), axes.end(), name);
      if (known == axes.end()) {
        std::string all;
        for (const std::string& axis : axes) all += " " + axis;
        raise<InvalidArgumentError>("sharding",
                                    "\"{}\": \"{}\" is neither None nor an axis; the axes are{}; write one entry a "
                                    "dim, like (None,{})",
                                    text, name, all, axes[0]);
      }
      tile.push_back(static_cast<int>(known - axes.begin()));
    }
    pattern.dims.emplace_back(tile);
  }
  require<InvalidArgumentError>(rank < 0 || pattern.rank() == rank, "sharding", "\"{}\" has {} dims for an array of {}",
                                text, pattern.rank(), rank);
  return pattern;
}

void check_pattern(const SpecPattern& pattern, const tensor::Shape& shape, const mesh::LogicalMesh& mesh) {
  for (size_t dim = 0; dim < pattern.dims.size(); ++dim) {
    if (!pattern.dims[dim]) continue;
    const Tile& tile = *pattern.dims[dim];
    const std::vector<int> axes = tile.axes();
    require<InvalidArgumentError>(std::is_sorted(axes.begin(), axes.end()), "sharding",
                                  "the axes of a dim come in the mesh's order: write (x+y), not (y+x)");
    for (const int axis : axes) {
      require<InvalidArgumentError>(mesh.size(axis) > 1, "sharding",
                                    "axis {} has size 1 and divides nothing: write None", mesh.axis(axis).name);
    }
    const int64_t parts = num_shards(tile, mesh);
    require<InvalidArgumentError>(parts <= 1 || (shape.dims[dim] > 0 && shape.dims[dim] % parts == 0), "sharding",
                                  "{} does not divide into {} parts evenly: dim {} is {}", tensor::to_string(shape),
                                  parts, dim, shape.dims[dim]);
  }
}

}  // namespace alpa::sharding
