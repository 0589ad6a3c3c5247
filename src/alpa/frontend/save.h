#pragma once

#include <map>
#include <string>
#include <vector>

#include "alpa/frontend/pytree.h"

/// Trees of arrays in safetensors files: one entry an array, named by its key path ("params.layers[3].w").
namespace alpa {

namespace frontend {
void write_arrays(const std::string& path, const std::vector<std::string>& names, const std::vector<Array>& arrays);
/// By name, of the shapes and element types of `like`.
std::vector<Array> read_arrays(const std::string& path, const std::vector<std::string>& names,
                               const std::vector<Array>& like);
}  // namespace frontend

/// Writes the whole values; what was at `path` is replaced once all is written.
/// Errors: InvalidArgumentError that names the file; UnsupportedError for element types that the format lacks.
template <typename Tree>
void save(const std::string& path, const Tree& tree) {
  frontend::write_arrays(path, tree_paths(tree), tree_leaves(tree));
}

/// A copy of `like` with the file's arrays. Errors: InvalidArgumentError that names the file and the array that is
/// missing or has another shape or element type than in `like`.
template <typename Tree>
Tree load(const std::string& path, const Tree& like) {
  return tree_rebuild(like, frontend::read_arrays(path, tree_paths(like), tree_leaves(like)));
}

}  // namespace alpa
