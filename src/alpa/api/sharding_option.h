#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "alpa/frontend/pytree.h"

namespace alpa {

/// What the planner must and may do: constraints on its one problem. The first two say what a method of their own does.
struct AutoShardingOption {
  bool force_data_parallel = false;  ///< As DataParallel; with prefer_reduce_scatter as Zero2Parallel.
  bool force_zero_stage_3 = false;   ///< As Zero3Parallel.
  /// Mesh axis, by number, that the first dim of each batch array must be divided over, and by it alone. Scalars of the
  /// batch are whole.
  std::optional<int> force_batch_dim_to_mesh_dim = std::nullopt;
  /// Divide the optimizer's state as far as can be, which wants gradients reduce-scattered.
  bool prefer_reduce_scatter = false;
  bool allow_all_gather = true;  ///< False: no operation and no change of placement gathers an array.
  bool allow_all_to_all = true;  ///< The same of all-to-alls.
  /// False: every input that is no batch is divided over an axis at least, if one divides it and no option places it.
  bool allow_replicated_parameters = true;
  /// Search until (objective - bound) / objective is proved to be at most this; 0: the best plan there is.
  double relative_gap = 0.01;
  /// Elementary operations of a first try to prove the best plan: three billion take a second or two.
  int64_t proof_work = 3'000'000'000;
};

/// A placement for the arrays whose key paths match `pattern` (*: any text). `spec` is text as
/// with_sharding_constraint takes it: "(None,None)" is whole on all devices, which is not the same as to say nothing.
struct ArrayPlacement {
  std::string pattern;
  std::string spec;
};

/// Placements that the plan must have; the rest is planned around them.
struct ManualShardingOption {
  std::vector<std::string> mesh_axis_names = {};  ///< Of the logical mesh, in order; empty: x, y, z.
  /// By key paths of the arguments, "args[0].params.w[1]"; "args[0].params.*" for all below.
  std::vector<ArrayPlacement> inputs = {};
  /// By key paths of what the function returns, "result", "result[0].loss". A result that takes the place of a donated
  /// array lies as that does.
  std::vector<ArrayPlacement> outputs = {};
};

/// One placement for each array of `tree` that `spec_of(path, array)` gives a spec for. `root`: what the paths begin
/// with, "args[0]" for the first argument.
template <typename Tree>
std::vector<ArrayPlacement> tree_placements(
    const Tree& tree, const std::string& root,
    const std::function<std::optional<std::string>(const std::string& path, const Array& array)>& spec_of) {
  const std::vector<std::string> paths = tree_paths(tree, root.c_str());
  const std::vector<Array> arrays = tree_leaves(tree);
  std::vector<ArrayPlacement> placements;
  for (size_t k = 0; k < paths.size(); ++k) {
    if (const std::optional<std::string> spec = spec_of(paths[k], arrays[k])) placements.push_back({paths[k], *spec});
  }
  return placements;
}

}  // namespace alpa
