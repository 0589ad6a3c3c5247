#include "alpa/tensor/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace alpa::tensor {

Shape Shape::tuple(std::vector<Shape> elements) {
  Shape shape;
  shape.dtype = DType::kTuple;
  shape.elements = std::move(elements);
  return shape;
}

int64_t num_elements(const Shape& shape) {
  if (!shape.is_array()) return 0;
  int64_t count = 1;
  for (const int64_t dim : shape.dims) count *= dim;
  return count;
}

bool is_countable(const Shape& shape) {
  if (!shape.is_array()) return false;
  constexpr double kMost = 4e18;  // of bytes, safely below 2^62
  double bytes = 1;
  bool empty = false;
  for (const int64_t dim : shape.dims) {
    if (dim < 0) return false;
    empty = empty || dim == 0;
    bytes *= static_cast<double>(dim == 0 ? 1 : dim);
  }
  return empty || bytes * bit_width(shape.dtype) / 8 < kMost;
}

int64_t byte_size(const Shape& shape) {
  if (shape.is_tuple()) {
    int64_t sum = 0;
    for (const Shape& element : shape.elements) sum += byte_size(element);
    return sum;
  }
  return (num_elements(shape) * bit_width(shape.dtype) + 7) / 8;
}

std::string to_string(const Shape& shape) {
  if (shape.is_tuple()) {
    std::string text = "(";
    for (size_t k = 0; k < shape.elements.size(); ++k) {
      if (k > 0) text += ", ";
      text += to_string(shape.elements[k]);
    }
    return text + ")";
  }
  return fmt::format("{}[{}]", name(shape.dtype), fmt::join(shape.dims, ","));
}

}  // namespace alpa::tensor
