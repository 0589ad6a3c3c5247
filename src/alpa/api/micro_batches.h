#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "alpa/frontend/array.h"

namespace alpa::api {

/// The number of parts that a method cuts a batch into. Errors: InvalidArgumentError if it is below 1.
int64_t checked_micro_batches(int64_t num_micro_batches);

/// What each input of a step is within a micro-batch: of batch inputs one of `count` equal parts of the first dim.
/// Scalars among them are the same in each. Errors: InvalidArgumentError that names an input whose first dim `count`
/// does not divide, two whose first dims differ, or says that there is no batch.
std::vector<Shape> micro_batch_shapes(std::span<const Array* const> inputs, const std::vector<std::string>& names,
                                      const std::vector<bool>& batch, int64_t count);

}  // namespace alpa::api
