#pragma once

#include "alpa/frontend/array.h"

/// Pictures of other sizes.
namespace alpa {

/// Each element of the result is the one of `x` nearest to the same relative place: jax.image.resize with "nearest".
/// One size a dim of `x`. Sizes that divide or are multiples cost a slice or a broadcast, others a gather.
Array resize_nearest(const ArrayLike& x, const Dims& dims);

}  // namespace alpa
