#pragma once

#include <utility>

#include "alpa/frontend/array.h"

/// Order along a dim (negative: from the last). All sorts are stable; NaN counts as the greatest number.
namespace alpa {

/// jnp.sort.
Array sort(const ArrayLike& x, int dim = -1, bool descending = false);
/// The places of the sorted elements, s32: jnp.argsort.
Array argsort(const ArrayLike& x, int dim = -1, bool descending = false);

struct SortOptions {
  int num_keys = 1;  ///< So many of the first arrays are the key, the first of them the most significant.
  bool descending = false;
};
/// Arrays of the same dims, put in the order of the first ones: lax.sort.
/// Errors: InvalidArgumentError if their dims differ or they are fewer than the keys.
std::vector<Array> sort_together(const std::vector<Array>& operands, int dim = -1, const SortOptions& options = {},
                                 Where where = Where::current());

/// The `k` greatest elements of the last dim, descending, and their places, s32: lax.top_k. **Cost**: that of a sort.
/// Errors: InvalidArgumentError if there are fewer.
std::pair<Array, Array> top_k(const ArrayLike& x, int64_t k);

/// How many elements of an ascending vector are less than each value (`right`: less or equal), s32: where it would be
/// inserted. jnp.searchsorted. **Cost**: every value is compared with every element.
Array searchsorted(const ArrayLike& sorted, const ArrayLike& values, bool right = false);

}  // namespace alpa
