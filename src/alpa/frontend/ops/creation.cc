#include "alpa/frontend/ops/creation.h"

#include <algorithm>
#include <cmath>

#include "alpa/base/error.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/ops/elementwise_rules.h"
#include "alpa/frontend/ops/shape.h"

namespace alpa {

Array full(const Dims& dims, const ArrayLike& value, DType dtype) {
  return broadcast_to(value.array.astype(dtype, value.where), dims, value.where);
}

Array full(const Dims& dims, const ArrayLike& value) { return full(dims, value, value.array.dtype()); }

Array zeros(const Dims& dims, DType dtype) { return full(dims, 0, dtype); }
Array ones(const Dims& dims, DType dtype) { return full(dims, 1, dtype); }
Array zeros_like(const ArrayLike& x) { return full(x.array.dims(), 0, x.array.dtype()); }
Array ones_like(const ArrayLike& x) { return full(x.array.dims(), 1, x.array.dtype()); }

Array full_like(const ArrayLike& x, const ArrayLike& value) { return full(x.array.dims(), value, x.array.dtype()); }

Array iota(const Dims& dims, int dim, DType dtype, Where where) {
  require<InvalidArgumentError>(dim >= 0 && static_cast<size_t>(dim) < dims.size(), "iota",
                                "dim {} of an array of rank {} at {}", dim, dims.size(), frontend::to_string(where));
  require<InvalidArgumentError>(dtype != DType::kPred, "iota", "bools do not count: take s32 and astype, at {}",
                                frontend::to_string(where));
  return frontend::emit_one(
      frontend::Primitive{
          .name = "iota",
          .lower =
              [dim](frontend::Lowering& lowering, const frontend::Node& node, const std::vector<int32_t>&) {
                return std::vector<int32_t>{lowering.builder().iota(node.shapes[0], dim)};
              }},
      {}, Shape(dtype, dims), where);
}

Array arange(int64_t n, DType dtype, Where where) { return iota({std::max<int64_t>(n, 0)}, 0, dtype, where); }

Array arange(double start, double stop, double step, DType dtype, Where where) {
  const double count = std::max(0.0, std::ceil((stop - start) / step));
  constexpr double kMost = 1e15;  // numbers: exact in a double, and more than any memory holds
  require<InvalidArgumentError>(std::isfinite(start) && step != 0 && !std::isnan(stop / step) && count < kMost,
                                "arange", "from {} to {} by {} at {}: no finite number of elements", start, stop, step,
                                frontend::to_string(where));
  const Array line = iota({static_cast<int64_t>(count)}, 0, dtype, where);
  return add(multiply(line, full({}, {step, where}, dtype)), full({}, {start, where}, dtype));
}

Array linspace(double start, double stop, int64_t n, DType dtype) {
  require<InvalidArgumentError>(n >= 0, "linspace", "{} numbers", n);
  if (n <= 1) return full({n}, start, dtype);
  // Small floats do not count far, and integers are rounded down at the end.
  const DType wide = dtype == DType::kF64 ? dtype : DType::kF32;
  const Array share = divide(iota({n}, 0, wide), static_cast<double>(n - 1));
  const Array line = add(multiply(subtract(1, share), start), multiply(share, stop));
  return (tensor::is_integral(dtype) ? floor(line) : line).astype(dtype);
}

Array eye(int64_t n, DType dtype) { return eye(n, n, 0, dtype); }

Array eye(int64_t rows, int64_t columns, int64_t offset, DType dtype) {
  const Dims dims = {rows, columns};
  return equal(add(iota(dims, 0), offset), iota(dims, 1)).astype(dtype);
}

Array tri(int64_t rows, int64_t columns, int64_t offset, DType dtype) {
  return tril(ones({rows, columns}, dtype), offset);
}

std::vector<Array> meshgrid(const std::vector<Array>& vectors, bool matrix, Where where) {
  Dims dims;
  for (const Array& vector : vectors) {
    require<InvalidArgumentError>(vector.rank() == 1, "meshgrid", "{} at {} is no vector",
                                  tensor::to_string(vector.shape()), frontend::to_string(where));
    dims.push_back(vector.dim(0));
  }
  const bool swapped = !matrix && vectors.size() > 1;
  if (swapped) std::swap(dims[0], dims[1]);
  std::vector<Array> result;
  for (size_t k = 0; k < vectors.size(); ++k) {
    const size_t dim = swapped && k < 2 ? 1 - k : k;
    result.push_back(broadcast_in_dim({vectors[k], where}, dims, {static_cast<int64_t>(dim)}));
  }
  return result;
}

Array tril(const ArrayLike& x, int64_t offset) {
  require<InvalidArgumentError>(x.array.rank() >= 2, "tril", "{} at {} has fewer than 2 dims",
                                tensor::to_string(x.array.shape()), frontend::to_string(x.where));
  const Dims last = {x.array.dim(-2), x.array.dim(-1)};
  const Array keep = greater_equal(add(iota(last, 0), std::clamp(offset, -last[0], last[1])), iota(last, 1));
  return where(keep, x, zeros_like(x));
}

Array triu(const ArrayLike& x, int64_t offset) {
  require<InvalidArgumentError>(x.array.rank() >= 2, "triu", "{} at {} has fewer than 2 dims",
                                tensor::to_string(x.array.shape()), frontend::to_string(x.where));
  const Dims last = {x.array.dim(-2), x.array.dim(-1)};
  const Array keep = less_equal(add(iota(last, 0), std::clamp(offset, -last[0], last[1])), iota(last, 1));
  return where(keep, x, zeros_like(x));
}

Array one_hot(const ArrayLike& indices, int64_t num_classes, DType dtype) {
  Dims dims = indices.array.dims();
  dims.push_back(num_classes);
  const Array classes = iota(dims, static_cast<int>(dims.size()) - 1, indices.array.dtype(), indices.where);
  return equal(expand_dims(indices, {-1}), classes).astype(dtype);
}

}  // namespace alpa
