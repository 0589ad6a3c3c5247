#pragma once

#include <string_view>

#include "alpa/frontend/array.h"

/// Sums of products. Operands are promoted; small floats are added as the plug-in does.
namespace alpa {

/// Which dims of the operands of a `dot_general` go together.
struct DotDims {
  std::vector<int64_t> lhs_contracting = {}, rhs_contracting = {};
  std::vector<int64_t> lhs_batch = {}, rhs_batch = {};
};
/// **Shapes**: batch dims, then the lhs's other dims, then the rhs's.
/// Errors: InvalidArgumentError if sizes that go together differ.
Array dot_general(const ArrayLike& lhs, const ArrayLike& rhs, const DotDims& dims);

/// Matrix product, as NumPy's: leading dims are batches and broadcast; a vector is a row on the left, a column on the
/// right. **Shapes**: [..., M, K] x [..., K, N] -> [..., M, N].
Array matmul(const ArrayLike& lhs, const ArrayLike& rhs);
/// Over the last dims of both. **Shapes**: [..., K] . [K] for a vector; see NumPy's dot.
Array dot(const ArrayLike& lhs, const ArrayLike& rhs);
/// Over the last dims of both: NumPy's inner. **Shapes**: [..., K], [..., K] -> [..., ...].
Array inner(const ArrayLike& lhs, const ArrayLike& rhs);
/// Of all elements, flattened, the left ones conjugated.
Array vdot(const ArrayLike& lhs, const ArrayLike& rhs);
/// Over the last `count` dims of the left and the first of the right; or over dims that are named for each.
Array tensordot(const ArrayLike& lhs, const ArrayLike& rhs, int count = 2);
Array tensordot(const ArrayLike& lhs, const ArrayLike& rhs, const std::vector<int>& lhs_dims,
                const std::vector<int>& rhs_dims);
/// Every product of elements of two arrays, flattened. **Shapes**: [M], [N] -> [M, N].
Array outer(const ArrayLike& lhs, const ArrayLike& rhs);

/// Einstein's convention: `einsum("bqhd,bkhd->bhqk", q, k)`. Without "->" the letters that occur once, sorted; "..."
/// stands for dims that broadcast. More than two operands are multiplied from left to right.
/// Errors: InvalidArgumentError that names the subscripts, the letter and the shapes.
Array einsum(std::string_view subscripts, const std::vector<Array>& operands, Where where = Where::current());
inline Array einsum(std::string_view subscripts, const Array& a, Where where = Where::current()) {
  return einsum(subscripts, std::vector<Array>{a}, where);
}
inline Array einsum(std::string_view subscripts, const Array& a, const Array& b, Where where = Where::current()) {
  return einsum(subscripts, std::vector<Array>{a, b}, where);
}
inline Array einsum(std::string_view subscripts, const Array& a, const Array& b, const Array& c,
                    Where where = Where::current()) {
  return einsum(subscripts, std::vector<Array>{a, b, c}, where);
}

}  // namespace alpa
