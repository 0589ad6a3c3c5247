#pragma once

#include "alpa/frontend/array.h"

/// Operations that move elements and change none. Dims may be negative: from the last.
namespace alpa {

/// One size may be -1: what remains. Errors: InvalidArgumentError if the number of elements differs.
Array reshape(const ArrayLike& x, const Dims& dims);
/// All dims in one.
Array flatten(const ArrayLike& x);
/// Result dim k is operand dim permutation[k].
Array transpose(const ArrayLike& x, const std::vector<int>& permutation);
/// Dims reversed.
Array transpose(const ArrayLike& x);
Array swapaxes(const ArrayLike& x, int a, int b);
/// Dim `from` becomes dim `to` of the result.
Array moveaxis(const ArrayLike& x, int from, int to);
/// NumPy's rule. Errors: InvalidArgumentError that names both shapes.
Array broadcast_to(const ArrayLike& x, const Dims& dims, Where where = Where::current());
/// Operand dim k becomes dim `mapping[k]` of the result; the other dims are new. Sizes agree.
Array broadcast_in_dim(const ArrayLike& x, const Dims& dims, const std::vector<int64_t>& mapping);
/// Dims of size 1 at these places of the result.
Array expand_dims(const ArrayLike& x, const std::vector<int>& places);
/// Without these dims, which must have size 1; without any, all of them.
Array squeeze(const ArrayLike& x, const std::vector<int>& dims = {});
Array concatenate(const std::vector<Array>& arrays, int dim = 0, Where where = Where::current());
/// A new dim, along which the arrays lie.
Array stack(const std::vector<Array>& arrays, int dim = 0, Where where = Where::current());
/// Equal parts. Errors: InvalidArgumentError if they do not divide the dim.
std::vector<Array> split(const ArrayLike& x, int64_t parts, int dim = 0);
/// Cut before these indices.
std::vector<Array> split_at(const ArrayLike& x, const std::vector<int64_t>& indices, int dim = 0);

struct Padding {
  int64_t low = 0, high = 0;
  int64_t interior = 0;  ///< Between neighbours.
};
/// One entry a dim; negative low and high cut off.
Array pad(const ArrayLike& x, const std::vector<Padding>& padding, const ArrayLike& value = 0);
/// Elements start, start + stride, ... below limit, of each dim.
Array slice(const ArrayLike& x, const std::vector<int64_t>& start, const std::vector<int64_t>& limit,
            const std::vector<int64_t>& stride = {});
/// Of one dim.
Array slice_in_dim(const ArrayLike& x, int dim, int64_t start, int64_t limit, int64_t stride = 1);
Array reverse(const ArrayLike& x, const std::vector<int>& dims);
/// Elements moved along a dim, those that leave come in at the other end.
Array roll(const ArrayLike& x, int64_t shift, int dim);
/// The array `count` times along a dim.
Array repeat(const ArrayLike& x, int64_t count, int dim);
/// The array repeated as a whole, `counts` times along the last dims; more counts than dims make new ones in front.
Array tile(const ArrayLike& x, const std::vector<int64_t>& counts);

namespace frontend {
/// A dim counted from 0. Errors: InvalidArgumentError that names `op`, the shape and the place.
int normal_dim(const char* op, int dim, const Shape& shape, Where where);
}  // namespace frontend

}  // namespace alpa
