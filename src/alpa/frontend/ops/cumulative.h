#pragma once

#include "alpa/frontend/array.h"

/// Reductions of all elements up to each along a dim (negative: from the last), itself included; with `reverse`, of all
/// from each on. lax.cumsum and the like. **Cost**: a window's reduction, which the plug-in turns into a tree:
/// O(n log n) for n elements of the dim; cumlogsumexp, and derivatives of all but cumsum, take O(n) elementwise work in
/// O(log n) operations.
namespace alpa {

/// Bools are added as s32.
Array cumsum(const ArrayLike& x, int dim, bool reverse = false);
Array cumprod(const ArrayLike& x, int dim, bool reverse = false);
/// The derivative halves the cotangent between equal elements where two partial results meet, as JAX.
Array cummax(const ArrayLike& x, int dim, bool reverse = false);
Array cummin(const ArrayLike& x, int dim, bool reverse = false);
/// log(cumsum(exp(x))), without overflow.
Array cumlogsumexp(const ArrayLike& x, int dim, bool reverse = false);

namespace frontend {
using AssociativeOperation = Array (*)(const ArrayLike& a, const ArrayLike& b);
/// All partial results of an associative elementwise operation along a dim, from operations that have derivatives:
/// neighbours are combined in pairs, those scanned, and the places between filled in. **Cost**: O(n) work.
/// **Source**: Blelloch, "Prefix sums and their applications", 1990.
Array associative_scan(AssociativeOperation operation, const Array& x, int dim, bool reverse);
}  // namespace frontend

}  // namespace alpa
