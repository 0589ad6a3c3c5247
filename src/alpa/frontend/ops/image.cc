#include "alpa/frontend/ops/image.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "alpa/base/error.h"
#include "alpa/frontend/node.h"
#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/indexing.h"
#include "alpa/frontend/ops/shape.h"

namespace alpa {
namespace {

// Dims whose sizes are multiples, all at once.
Array repeated(const ArrayLike& x, const Dims& dims) {
  Dims wide, joined;
  std::vector<int64_t> mapping;
  for (size_t k = 0; k < dims.size(); ++k) {
    const int64_t size = x.array.dims()[k];
    const int64_t times = size > 0 && dims[k] % size == 0 ? dims[k] / size : 1;
    mapping.push_back(static_cast<int64_t>(wide.size()));
    wide.push_back(size);
    if (times > 1) wide.push_back(times);
    joined.push_back(size * times);
  }
  if (joined == x.array.dims()) return x.array;
  return reshape({broadcast_in_dim(x, wide, mapping), x.where}, joined);
}

Array sampled(const ArrayLike& x, int dim, int64_t size) {
  const int64_t from = x.array.dim(dim);
  if (size > 0 && from % size == 0) {
    const int64_t step = from / size;
    return slice_in_dim(x, dim, step / 2, from, step);
  }
  std::vector<int32_t> places;
  for (int64_t k = 0; k < size; ++k) {
    // In f32, as JAX, so that halves fall to the same side.
    const float middle = (static_cast<float>(k) + 0.5f) * static_cast<float>(from) / static_cast<float>(size);
    places.push_back(static_cast<int32_t>(std::floor(middle)));
  }
  return take(x, Array::from(places), dim, OutOfRange::kClip);
}

}  // namespace

Array resize_nearest(const ArrayLike& x, const Dims& dims) {
  bool fits = dims.size() == x.array.dims().size();
  for (size_t k = 0; fits && k < dims.size(); ++k) fits = dims[k] >= 0 && (dims[k] == 0 || x.array.dims()[k] > 0);
  require<InvalidArgumentError>(fits, "resize_nearest", "{} at {} cannot become [{}]",
                                tensor::to_string(x.array.shape()), frontend::to_string(x.where), fmt::join(dims, ","));
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return zeros(dims, x.array.dtype());
  Array result = repeated(x, dims);
  for (int dim = 0; dim < result.rank(); ++dim) {
    const int64_t size = dims[static_cast<size_t>(dim)];
    if (result.dim(dim) != size) result = sampled({result, x.where}, dim, size);
  }
  return result;
}

}  // namespace alpa
