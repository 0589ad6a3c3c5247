#pragma once

#include "alpa/tensor/literal.h"

namespace alpa::runtime {

/// Shape of one of `count` equal parts of a batch, cut along `dim`. Errors: InvalidArgumentError if they do not divide
/// it.
tensor::Shape micro_batch_shape(const tensor::Shape& batch, int dim, int64_t count);

/// Part `index`, in order. Errors: as micro_batch_shape; UnsupportedError for elements smaller than a byte.
tensor::Literal micro_batch(const tensor::Literal& batch, int dim, int64_t count, int64_t index);

}  // namespace alpa::runtime
