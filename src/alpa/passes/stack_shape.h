#pragma once

#include "alpa/tensor/shape.h"

namespace alpa::passes {

/// Of `rows` such arrays, one after another in a new first dim.
inline tensor::Shape stack_shape(const tensor::Shape& row, int64_t rows) {
  tensor::Shape shape = row;
  shape.dims.insert(shape.dims.begin(), rows);
  return shape;
}

}  // namespace alpa::passes
