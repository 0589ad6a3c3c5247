#include "alpa/frontend/ops/diagonal.h"

#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/frontend/node.h"
#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/ops/reduction.h"
#include "alpa/frontend/ops/shape.h"

namespace alpa {
namespace {

// All but the diagonal of the last two dims as 0.
Array only_diagonal(const ArrayLike& x, int64_t offset) {
  return where(eye(x.array.dim(-2), x.array.dim(-1), offset, DType::kPred), x, zeros_like(x));
}

void require_matrix(const char* op, const ArrayLike& x) {
  require<InvalidArgumentError>(x.array.rank() >= 2, op, "{} at {} has fewer than 2 dims",
                                tensor::to_string(x.array.shape()), frontend::to_string(x.where));
}

}  // namespace

Array diagonal(const ArrayLike& x, int64_t far) {
  require_matrix("diagonal", x);
  const int64_t offset = std::clamp(far, -x.array.dim(-2), x.array.dim(-1));  // empty from there on
  const int64_t start = std::max<int64_t>(0, -offset);
  const int64_t size = std::min(x.array.dim(-2) - start, x.array.dim(-1) - std::max<int64_t>(0, offset));
  // One element of each row is left; its element type stays, whatever sums are made in.
  const Array rows = sum(only_diagonal(x, offset), {-1}).astype(x.array.dtype());
  return slice_in_dim({rows, x.where}, -1, std::min(start, rows.dim(-1)), start + std::max<int64_t>(0, size));
}

Array diag(const ArrayLike& x, int64_t offset) {
  const int rank = x.array.rank();
  require<InvalidArgumentError>(rank == 1 || rank == 2, "diag", "{} at {} is neither vector nor matrix",
                                tensor::to_string(x.array.shape()), frontend::to_string(x.where));
  if (rank == 2) return diagonal(x, offset);
  constexpr int64_t kMost = int64_t{1} << 31;  // both sizes of the result grow by it
  require<InvalidArgumentError>(offset > -kMost && offset < kMost, "diag", "offset {} at {} makes too large a matrix",
                                offset, frontend::to_string(x.where));
  const int64_t size = x.array.dim(0) + std::abs(offset);
  const Array column = pad(x, {{std::max<int64_t>(0, -offset), std::max<int64_t>(0, offset), 0}});
  return only_diagonal({broadcast_in_dim({column, x.where}, {size, size}, {0}), x.where}, offset);
}

Array trace(const ArrayLike& x, int64_t offset) {
  require_matrix("trace", x);
  return sum(only_diagonal(x, std::clamp(offset, -x.array.dim(-2), x.array.dim(-1))), {-2, -1});
}

}  // namespace alpa
