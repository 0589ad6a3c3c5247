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
