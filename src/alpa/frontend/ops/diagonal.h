#pragma once

#include "alpa/frontend/array.h"

/// Diagonals of matrices; that of `offset` k starts k places to the right (negative: below).
namespace alpa {

/// Of the last two dims, as a new last dim. **Shapes**: [..., M, N] -> [..., K].
Array diagonal(const ArrayLike& x, int64_t offset = 0);
/// A vector as the diagonal of a matrix that is 0 elsewhere; of a matrix its diagonal. jnp.diag.
/// Errors: InvalidArgumentError if `x` is neither.
Array diag(const ArrayLike& x, int64_t offset = 0);
/// Sum of the diagonal of the last two dims.
Array trace(const ArrayLike& x, int64_t offset = 0);

}  // namespace alpa
