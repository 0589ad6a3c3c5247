#pragma once

#include "alpa/frontend/array.h"

/// Elements by computed index: gather, scatter and slices whose start is an array. Dims may be negative.
namespace alpa {

/// What becomes of indices out of range. Reads: kFill gives NaN (of signed integers the least, of unsigned ones the
/// greatest, of bools true), kFillZero gives 0, kClip reads the nearest place that is in range. Writes: kClip writes
/// to the nearest place, the others write nothing.
enum class OutOfRange { kFill, kFillZero, kClip };

/// As lax.GatherDimensionNumbers. The last dim of the indices holds index vectors.
struct GatherDims {
  std::vector<int64_t> offset_dims = {};           ///< Dims of the result that come of the slices.
  std::vector<int64_t> collapsed_slice_dims = {};  ///< Dims of the operand, of slice size 1, that the result lacks.
  std::vector<int64_t> start_index_map = {};       ///< Which operand dim each entry of an index vector points into.
  std::vector<int64_t> operand_batching_dims = {}, start_indices_batching_dims = {};
};
/// As lax.ScatterDimensionNumbers.
struct ScatterDims {
  std::vector<int64_t> update_window_dims = {};
  std::vector<int64_t> inserted_window_dims = {};
  std::vector<int64_t> scatter_dims_to_operand_dims = {};
  std::vector<int64_t> operand_batching_dims = {}, scatter_indices_batching_dims = {};
};

/// Slices of `x` at computed places: lax.gather. **Shapes**: the dims of the indices but the last, with those of a
/// slice at `offset_dims`. Errors: InvalidArgumentError if the dims do not fit.
Array gather(const ArrayLike& x, const ArrayLike& indices, const GatherDims& dims,
             const std::vector<int64_t>& slice_sizes, OutOfRange mode = OutOfRange::kFill);
/// `x` with the updates added at computed places, all of them where places coincide: lax.scatter_add.
Array scatter_add(const ArrayLike& x, const ArrayLike& indices, const ArrayLike& updates, const ScatterDims& dims,
                  OutOfRange mode = OutOfRange::kFill);
/// `x` with the updates in place of what was there: lax.scatter. Where places coincide one of them wins.
Array scatter_set(const ArrayLike& x, const ArrayLike& indices, const ArrayLike& updates, const ScatterDims& dims,
                  OutOfRange mode = OutOfRange::kFill);

/// Elements along a dim: jnp.take. The dims of the indices stand in place of that dim. With kFill and kFillZero
/// negative indices count from the end; with kClip they are out of range. **Shapes**: [A, N, B], [I...] -> [A, I...,
/// B].
Array take(const ArrayLike& x, const ArrayLike& indices, int dim, OutOfRange mode = OutOfRange::kFill);
/// Element indices[i, j, ...] along `dim` at the same place in the other dims, which broadcast: jnp.take_along_axis.
Array take_along_axis(const ArrayLike& x, const ArrayLike& indices, int dim, OutOfRange mode = OutOfRange::kFill);
/// The inverse ways of `take`: x.at[..., indices, ...].add(updates) and .set(updates). Updates broadcast to the shape
/// that `take` gives; negative indices count from the end, others out of range write nothing.
Array scatter_add(const ArrayLike& x, const ArrayLike& indices, const ArrayLike& updates, int dim);
Array scatter_set(const ArrayLike& x, const ArrayLike& indices, const ArrayLike& updates, int dim);
/// x.at[..., indices, ...].max(updates) and .min(updates). Equal extrema share the cotangent.
Array scatter_max(const ArrayLike& x, const ArrayLike& indices, const ArrayLike& updates, int dim);
Array scatter_min(const ArrayLike& x, const ArrayLike& indices, const ArrayLike& updates, int dim);

/// `sizes` elements from `starts` on, one scalar a dim: lax.dynamic_slice. Negative starts count from the end; a start
/// that leaves too few elements is moved back.
Array dynamic_slice(const ArrayLike& x, const std::vector<Array>& starts, const std::vector<int64_t>& sizes);
/// `x` with `update` in place of the elements from `starts` on: lax.dynamic_update_slice. Starts as there.
Array dynamic_update_slice(const ArrayLike& x, const ArrayLike& update, const std::vector<Array>& starts);
/// Of one dim.
Array dynamic_slice_in_dim(const ArrayLike& x, const ArrayLike& start, int64_t size, int dim = 0);
Array dynamic_update_slice_in_dim(const ArrayLike& x, const ArrayLike& update, const ArrayLike& start, int dim = 0);
/// One element of a dim, which stays with size 1 unless `keep_dim` is false: lax.dynamic_index_in_dim.
Array dynamic_index_in_dim(const ArrayLike& x, const ArrayLike& index, int dim = 0, bool keep_dim = true);

namespace frontend {
/// Negative indices into a dim of this size, counted from its end, made to count from 0.
Array wrapped_indices(const Array& indices, int64_t size);
}  // namespace frontend

}  // namespace alpa
