#pragma once

#include <cstddef>
#include <vector>

#include "alpa/frontend/array.h"

namespace alpa::frontend {

/// The arrays behind a gradient marker (see hlo/markers.h), of which the first `num_values` are no gradients. An
/// identity, also for derivatives.
std::vector<Array> mark_gradients(const std::vector<Array>& arrays, size_t num_values);

}  // namespace alpa::frontend
