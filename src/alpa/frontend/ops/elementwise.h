#pragma once

#include "alpa/frontend/array.h"

/// Operations on each element alone. Two operands are promoted to one element type and broadcast to one shape.
namespace alpa {

Array add(const ArrayLike& a, const ArrayLike& b);
Array subtract(const ArrayLike& a, const ArrayLike& b);
Array multiply(const ArrayLike& a, const ArrayLike& b);
/// True division: integers become f32.
Array divide(const ArrayLike& a, const ArrayLike& b);
/// Rounded down.
Array floor_divide(const ArrayLike& a, const ArrayLike& b);
/// Remainder with the sign of the divisor, as Python's and NumPy's.
Array mod(const ArrayLike& a, const ArrayLike& b);
/// Remainder with the sign of the dividend, as C's.
Array remainder(const ArrayLike& a, const ArrayLike& b);
Array power(const ArrayLike& a, const ArrayLike& b);
Array maximum(const ArrayLike& a, const ArrayLike& b);
Array minimum(const ArrayLike& a, const ArrayLike& b);
Array atan2(const ArrayLike& y, const ArrayLike& x);
/// log(exp(a) + exp(b)).
Array logaddexp(const ArrayLike& a, const ArrayLike& b);
/// sqrt(a^2 + b^2), without overflow.
Array hypot(const ArrayLike& a, const ArrayLike& b);

Array negate(const ArrayLike& x);
Array abs(const ArrayLike& x);
Array sign(const ArrayLike& x);
Array floor(const ArrayLike& x);
Array ceil(const ArrayLike& x);
/// Halves to even.
Array round(const ArrayLike& x);
/// Towards zero.
Array trunc(const ArrayLike& x);
Array exp(const ArrayLike& x);
Array exp2(const ArrayLike& x);
Array expm1(const ArrayLike& x);
Array log(const ArrayLike& x);
Array log1p(const ArrayLike& x);
Array log2(const ArrayLike& x);
Array log10(const ArrayLike& x);
Array sqrt(const ArrayLike& x);
Array rsqrt(const ArrayLike& x);
Array cbrt(const ArrayLike& x);
Array square(const ArrayLike& x);
Array reciprocal(const ArrayLike& x);
Array sin(const ArrayLike& x);
Array cos(const ArrayLike& x);
Array tan(const ArrayLike& x);
Array asin(const ArrayLike& x);
Array acos(const ArrayLike& x);
Array atan(const ArrayLike& x);
Array sinh(const ArrayLike& x);
Array cosh(const ArrayLike& x);
Array tanh(const ArrayLike& x);
Array asinh(const ArrayLike& x);
Array acosh(const ArrayLike& x);
Array atanh(const ArrayLike& x);
Array erf(const ArrayLike& x);
/// The number whose error function is x, |x| <= 1.
/// **Source**: Giles, "Approximating the erfinv function", GPU Computing Gems, 2011.
Array erf_inv(const ArrayLike& x);
/// 1 / (1 + exp(-x)).
Array sigmoid(const ArrayLike& x);
Array real(const ArrayLike& x);
Array imag(const ArrayLike& x);
Array conj(const ArrayLike& x);
Array complex(const ArrayLike& re, const ArrayLike& im);

/// Comparisons give bool.
Array equal(const ArrayLike& a, const ArrayLike& b);
Array not_equal(const ArrayLike& a, const ArrayLike& b);
Array less(const ArrayLike& a, const ArrayLike& b);
Array less_equal(const ArrayLike& a, const ArrayLike& b);
Array greater(const ArrayLike& a, const ArrayLike& b);
Array greater_equal(const ArrayLike& a, const ArrayLike& b);
Array isfinite(const ArrayLike& x);
Array isnan(const ArrayLike& x);
Array isinf(const ArrayLike& x);
/// |a - b| <= absolute + relative * |b|, or both the same infinity.
Array isclose(const ArrayLike& a, const ArrayLike& b, double relative = 1e-5, double absolute = 1e-8);

/// Bits of integers; truth of bools.
Array bitwise_and(const ArrayLike& a, const ArrayLike& b);
Array bitwise_or(const ArrayLike& a, const ArrayLike& b);
Array bitwise_xor(const ArrayLike& a, const ArrayLike& b);
Array bitwise_not(const ArrayLike& x);
Array shift_left(const ArrayLike& x, const ArrayLike& bits);
/// Of signed integers arithmetic, of unsigned ones logical.
Array shift_right(const ArrayLike& x, const ArrayLike& bits);
Array population_count(const ArrayLike& x);
Array count_leading_zeros(const ArrayLike& x);
/// Truth: anything but 0 is true.
Array logical_and(const ArrayLike& a, const ArrayLike& b);
Array logical_or(const ArrayLike& a, const ArrayLike& b);
Array logical_xor(const ArrayLike& a, const ArrayLike& b);
Array logical_not(const ArrayLike& x);

/// `x` where `condition` holds, else `y`.
Array where(const ArrayLike& condition, const ArrayLike& x, const ArrayLike& y);
/// min(max(x, low), high).
Array clip(const ArrayLike& x, const ArrayLike& low, const ArrayLike& high);
/// 0 for NaN, the largest finite number for infinity: jnp.nan_to_num.
Array nan_to_num(const ArrayLike& x);

/// The same bits as another element type of the same width.
Array bitcast(const ArrayLike& x, DType dtype);
/// The same value, of which derivatives know nothing.
Array stop_gradient(const ArrayLike& x);

inline Array operator+(const ArrayLike& a, const ArrayLike& b) { return add(a, b); }
inline Array operator-(const ArrayLike& a, const ArrayLike& b) { return subtract(a, b); }
inline Array operator*(const ArrayLike& a, const ArrayLike& b) { return multiply(a, b); }
inline Array operator/(const ArrayLike& a, const ArrayLike& b) { return divide(a, b); }
inline Array operator%(const ArrayLike& a, const ArrayLike& b) { return mod(a, b); }
inline Array operator-(const Array& x) { return negate(x); }
inline Array operator==(const ArrayLike& a, const ArrayLike& b) { return equal(a, b); }
inline Array operator!=(const ArrayLike& a, const ArrayLike& b) { return not_equal(a, b); }
inline Array operator<(const ArrayLike& a, const ArrayLike& b) { return less(a, b); }
inline Array operator<=(const ArrayLike& a, const ArrayLike& b) { return less_equal(a, b); }
inline Array operator>(const ArrayLike& a, const ArrayLike& b) { return greater(a, b); }
inline Array operator>=(const ArrayLike& a, const ArrayLike& b) { return greater_equal(a, b); }
inline Array operator&(const ArrayLike& a, const ArrayLike& b) { return bitwise_and(a, b); }
inline Array operator|(const ArrayLike& a, const ArrayLike& b) { return bitwise_or(a, b); }
inline Array operator^(const ArrayLike& a, const ArrayLike& b) { return bitwise_xor(a, b); }
inline Array operator!(const Array& x) { return logical_not(x); }
inline Array operator~(const Array& x) { return bitwise_not(x); }
inline Array& operator+=(Array& a, const ArrayLike& b) { return a = add(a, b); }
inline Array& operator-=(Array& a, const ArrayLike& b) { return a = subtract(a, b); }
inline Array& operator*=(Array& a, const ArrayLike& b) { return a = multiply(a, b); }
inline Array& operator/=(Array& a, const ArrayLike& b) { return a = divide(a, b); }

}  // namespace alpa
