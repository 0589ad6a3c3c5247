#pragma once

#include "alpa/frontend/array.h"

/// Arrays from nothing.
namespace alpa {

Array full(const Dims& dims, const ArrayLike& value, DType dtype);
/// With the element type of the value.
Array full(const Dims& dims, const ArrayLike& value);
Array zeros(const Dims& dims, DType dtype = DType::kF32);
Array ones(const Dims& dims, DType dtype = DType::kF32);
Array zeros_like(const ArrayLike& x);
Array ones_like(const ArrayLike& x);
Array full_like(const ArrayLike& x, const ArrayLike& value);
/// 0, 1, 2, ... along a dim, the same along the others.
Array iota(const Dims& dims, int dim, DType dtype = DType::kS32, Where where = Where::current());
/// {0, 1, ..., n - 1}; empty for a negative n.
Array arange(int64_t n, DType dtype = DType::kS32, Where where = Where::current());
/// {start, start + step, ...} below stop.
Array arange(double start, double stop, double step, DType dtype, Where where = Where::current());
/// `n` numbers from start to stop, both included.
Array linspace(double start, double stop, int64_t n, DType dtype = DType::kF32);
/// 1 on the diagonal.
Array eye(int64_t n, DType dtype = DType::kF32);
/// 1 on the diagonal that is moved to the right by `offset`.
Array eye(int64_t rows, int64_t columns, int64_t offset = 0, DType dtype = DType::kF32);
/// 1 on that diagonal and below.
Array tri(int64_t rows, int64_t columns, int64_t offset = 0, DType dtype = DType::kF32);
/// Each vector along a dim of its own, broadcast over the others; `matrix` as jnp.meshgrid's "ij", else as its "xy":
/// the first two dims change places.
std::vector<Array> meshgrid(const std::vector<Array>& vectors, bool matrix = false, Where where = Where::current());
/// The lower (upper) triangle of the last two dims, the diagonal moved by `offset`; 0 elsewhere.
Array tril(const ArrayLike& x, int64_t offset = 0);
Array triu(const ArrayLike& x, int64_t offset = 0);
/// A dim of `num_classes` more at the end: 1 at the index, 0 elsewhere (all 0 for an index out of range).
Array one_hot(const ArrayLike& indices, int64_t num_classes, DType dtype = DType::kF32);

}  // namespace alpa
