#pragma once

#include <string>
#include <utility>

#include "alpa/frontend/array.h"
#include "alpa/frontend/pytree.h"

namespace alpa {

namespace frontend {
Array sharding_constraint(const Array& array, const std::string& spec, const Where& where);
}

/// `array`, which lies on the mesh as `spec` says where the step runs on several devices; the rest is planned around
/// it. The same is asked of its cotangents and tangents. On one device, and outside of a parallelized step, it is
/// `array`.
///
/// `spec` has one entry a dim: the name of a mesh axis, several as (x+y), None for a whole dim, ? for a dim that the
/// planner places; "(None,None)" asks for copies on all devices. Axes are named by ManualShardingOption, else x, y, z.
/// Errors: InvalidArgumentError for text that is no spec or has not the array's number of dims; later, when the step is
/// planned, for an axis that the mesh lacks or that does not divide its dim.
inline Array with_sharding_constraint(const Array& array, const std::string& spec, Where where = Where::current()) {
  return frontend::sharding_constraint(array, spec, where);
}

/// The same of each array of a tree; they have the same number of dims.
template <frontend::HasFields Tree>
Tree with_sharding_constraint(Tree tree, const std::string& spec, Where where = Where::current()) {
  return tree_map(std::move(tree),
                  [&](const Array& array) { return frontend::sharding_constraint(array, spec, where); });
}

}  // namespace alpa
