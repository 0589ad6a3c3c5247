#pragma once

#include "alpa/frontend/array.h"

/// Reductions over dims (negative: from the last; an empty list: none); without a list, over all. `keep_dims` leaves
/// them with size 1.
namespace alpa {

/// Of integers and bools as JAX: bools and small integers are added as s32 (unsigned: u32). Small floats are added in
/// f32, and the result rounded; so are those of product and mean.
Array sum(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims = false);
Array sum(const ArrayLike& x);
Array prod(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims = false);
Array prod(const ArrayLike& x);
Array mean(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims = false);
Array mean(const ArrayLike& x);
/// Sum of the squared distances to the mean over their number less `ddof`.
Array var(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims = false, int64_t ddof = 0);
Array var(const ArrayLike& x);
Array stddev(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims = false, int64_t ddof = 0);
Array stddev(const ArrayLike& x);
Array max(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims = false);
Array max(const ArrayLike& x);
Array min(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims = false);
Array min(const ArrayLike& x);
/// Truth: of bools, or of what is not 0.
Array all(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims = false);
Array all(const ArrayLike& x);
Array any(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims = false);
Array any(const ArrayLike& x);
/// First index of the largest (smallest) element along a dim; NaN counts as such. s32.
Array argmax(const ArrayLike& x, int dim, bool keep_dims = false);
Array argmin(const ArrayLike& x, int dim, bool keep_dims = false);
/// Of all elements, row-major.
Array argmax(const ArrayLike& x);
Array argmin(const ArrayLike& x);
/// All elements close to their counterparts, see isclose.
Array allclose(const ArrayLike& a, const ArrayLike& b, double relative = 1e-5, double absolute = 1e-8);

/// log(sum(exp(x))), without overflow.
Array logsumexp(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims = false);
Array logsumexp(const ArrayLike& x);

namespace frontend {
/// A scalar that leaves any other of its element type unchanged: the least for max, the greatest for min.
tensor::Literal extreme(DType dtype, bool least);
}  // namespace frontend

}  // namespace alpa
