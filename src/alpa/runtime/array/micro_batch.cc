#include "alpa/runtime/array/micro_batch.h"

#include <cstring>

#include "alpa/base/error.h"

namespace alpa::runtime {

tensor::Shape micro_batch_shape(const tensor::Shape& batch, int dim, int64_t count) {
  tensor::Shape part = batch;
  int64_t& size = part.dims.at(static_cast<size_t>(dim));
  require<InvalidArgumentError>(count > 0 && size % count == 0, "array", "dim {} of {} is no multiple of {} parts", dim,
                                tensor::to_string(batch), count);
  size /= count;
  return part;
}

tensor::Literal micro_batch(const tensor::Literal& batch, int dim, int64_t count, int64_t index) {
  const tensor::Shape& shape = batch.shape();
  tensor::Literal part(micro_batch_shape(shape, dim, count));
  require<UnsupportedError>(tensor::bit_width(shape.dtype) % 8 == 0, "array",
                            "elements of type {} are smaller than a byte and cannot be cut into parts",
                            tensor::name(shape.dtype));
  int64_t rows = 1;
  for (int before = 0; before < dim; ++before) rows *= shape.dims[static_cast<size_t>(before)];
  if (rows == 0) return part;
  const size_t row = part.bytes().size() / static_cast<size_t>(rows);
  for (int64_t k = 0; k < rows; ++k) {
    const auto from = static_cast<size_t>(k * count + index) * row;
    std::memcpy(part.mutable_bytes().data() + static_cast<size_t>(k) * row, batch.bytes().data() + from, row);
  }
  return part;
}

}  // namespace alpa::runtime
