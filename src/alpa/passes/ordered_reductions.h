#pragma once

#include "alpa/hlo/module.h"

namespace alpa::passes {

/// The annotated program with each maximum and minimum of floats along a divided dim taken over integers in the same
/// order, NaNs beyond the end that wins. Stock XLA's all-reduce on the CPU loses NaNs of all devices but one: its
/// maximum of a number and a NaN is the number. Integers of the same width move the same bytes.
///
/// key(x) = b ^ ((b >> (bits - 1)) & most), b the bits of x and `most` the largest integer; key(key(b)) = b. In this
/// order -inf < ... < -0 < +0 < ... < +inf; NaN becomes `most` for a maximum and the least integer for a minimum, both
/// of which are the bits of NaNs again.
hlo::Module ordered_reductions(const hlo::Module& module);

}  // namespace alpa::passes
