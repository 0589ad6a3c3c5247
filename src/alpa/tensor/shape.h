#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "alpa/tensor/dtype.h"

namespace alpa::tensor {

/// Dtype and dims of an array, or a tuple of shapes. Row-major; layouts are not part of it.
struct Shape {
  DType dtype = DType::kInvalid;
  std::vector<int64_t> dims;    ///< Empty for scalars and tuples.
  std::vector<Shape> elements;  ///< Of a tuple.

  Shape() = default;
  Shape(DType element_type, std::vector<int64_t> sizes) : dtype(element_type), dims(std::move(sizes)) {}
  static Shape tuple(std::vector<Shape> elements);

  bool is_tuple() const { return dtype == DType::kTuple; }
  bool is_array() const { return tensor::is_array(dtype); }
  int rank() const { return static_cast<int>(dims.size()); }

  bool operator==(const Shape&) const = default;
};

/// Number of elements of an array; 1 for a scalar, 0 for a tuple or token.
int64_t num_elements(const Shape& shape);

/// True for an array whose sizes are not negative and whose bytes 64 bits count.
bool is_countable(const Shape& shape);

/// Bytes of the value, whole; a tuple is the sum of its elements; sub-byte elements are packed.
int64_t byte_size(const Shape& shape);

/// XLA's text without layout: "f32[2,3]", "(f32[], s32[4])".
std::string to_string(const Shape& shape);

}  // namespace alpa::tensor
