#include <cmath>
#include <limits>

#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/ops/elementwise_rules.h"
#include "alpa/frontend/promotion.h"

// The operations of elementwise.h that are made of others.
namespace alpa {
namespace {

using frontend::floating;
using frontend::real_floating;

double largest_finite(DType dtype) {
  switch (dtype) {
    case DType::kF16: return 65504;
    case DType::kBF16: return 0x1.fep127;
    case DType::kF64: return std::numeric_limits<double>::max();
    default: return std::numeric_limits<float>::max();
  }
}

// True where the square of a positive number would overflow: 1 is nothing beside it.
Array has_no_square(const Array& x) { return greater(x, std::sqrt(largest_finite(x.dtype()))); }

// exp(x) / 2 that overflows only where the result does.
Array half_exp(const Array& x) { return exp(subtract(x, std::log(2.0))); }

}  // namespace

Array floor_divide(const ArrayLike& a, const ArrayLike& b) {
  const DType dtype = promote({a.array, b.array}).dtype;
  if (!tensor::is_integral(dtype)) {
    // Of what the remainder leaves: the quotient alone may be rounded up to a whole number.
    const ArrayLike x = real_floating("floor_divide", a), y = real_floating("floor_divide", b);
    const Array left = remainder(x, y);
    const Array whole = divide(where(equal(y, 0), x, subtract(x, left)), y);
    const Array down = logical_and(not_equal(left, 0), not_equal(less(left, 0), less(y, 0)));
    return round(where(down, subtract(whole, 1), whole));
  }
  // Truncated towards zero by the division of integers; one less where the signs differ and something remains.
  const std::vector<Array> both = frontend::promoted_and_broadcast("floor_divide", {a.array, b.array}, a.where);
  const Array left = remainder(both[0], both[1]);
  static const auto integers = frontend::binary_primitive("divide", hlo::Opcode::kDivide, nullptr, nullptr);
  const Array quotient = frontend::binary(integers, both[0], both[1]);
  const Array down = logical_and(not_equal(left, 0), not_equal(less(left, 0), less(both[1], 0)));
  return where(down, subtract(quotient, 1), quotient);
}

Array mod(const ArrayLike& a, const ArrayLike& b) {
  const Array left = remainder(a, b);
  const Array wrong_sign = logical_and(not_equal(left, 0), not_equal(less(left, 0), less(b, 0)));
  return where(wrong_sign, add(left, b), left);
}

Array logaddexp(const ArrayLike& a, const ArrayLike& b) {
  const ArrayLike x = real_floating("logaddexp", a), y = real_floating("logaddexp", b);
  const Array first = greater_equal(x, y);
  const Array larger = where(first, x, y), smaller = where(first, y, x);
  const Array least = stop_gradient(larger);
  const Array base = where(isfinite(least), least, 0);
  // What the sum of the exponentials exceeds 1 by: expm1 is 0 but for its derivative, and small addends are not lost.
  return add(base, log1p(add(expm1(subtract(larger, base)), exp(subtract(smaller, base)))));
}

Array hypot(const ArrayLike& a, const ArrayLike& b) {
  const Array x = abs(real_floating("hypot", a)), y = abs(real_floating("hypot", b));
  const Array first = greater_equal(x, y);
  const Array larger = where(first, x, y), smaller = where(first, y, x);
  const Array some = greater(larger, 0);
  const Array ratio = divide(smaller, where(some, larger, 1));
  const Array size = multiply(larger, sqrt(add(1, square(ratio))));
  return where(logical_or(isinf(x), isinf(y)), std::numeric_limits<double>::infinity(), size);
}

Array log2(const ArrayLike& x) { return divide(log(x), std::log(2.0)); }
Array log10(const ArrayLike& x) { return divide(log(x), std::log(10.0)); }
Array exp2(const ArrayLike& x) { return exp(multiply(floating(x), std::log(2.0))); }
Array square(const ArrayLike& x) { return multiply(x, x); }
Array reciprocal(const ArrayLike& x) { return divide(1, floating(x)); }
Array tan(const ArrayLike& x) { return divide(sin(x), cos(x)); }

Array asin(const ArrayLike& x) {
  const ArrayLike f = real_floating("asin", x);
  const Array known = stop_gradient(f);
  const Array value = multiply(2, atan2(known, add(1, sqrt(multiply(subtract(1, known), add(1, known))))));
  return frontend::with_rule("asin", value, f, [](const Array& ct, const Array& x, const Array&) {
    return multiply(ct, rsqrt(multiply(subtract(1, x), add(1, x))));
  });
}

Array acos(const ArrayLike& x) {
  const ArrayLike f = real_floating("acos", x);
  return multiply(2, atan2(sqrt(subtract(1, f)), sqrt(add(1, f))));
}

Array atan(const ArrayLike& x) { return atan2(x, 1); }

Array sinh(const ArrayLike& x) {
  const ArrayLike f = floating(x);
  const Array known = stop_gradient(f);
  // Near 0 from expm1, which is exact there: (e^x - 1 + (e^x - 1) / e^x) / 2.
  const Array e = expm1(known);
  const Array near = multiply(0.5, add(e, divide(e, add(e, 1))));
  const Array far = subtract(half_exp(known), half_exp(negate(known)));
  return frontend::with_rule("sinh", where(less(abs(known), 1), near, far), f,
                             [](const Array& ct, const Array& x, const Array&) { return multiply(ct, cosh(x)); });
}

Array cosh(const ArrayLike& x) {
  const ArrayLike f = floating(x);
  return add(half_exp(f.array), half_exp(negate(f)));
}

Array asinh(const ArrayLike& x) {
  const ArrayLike f = real_floating("asinh", x);
  const Array known = stop_gradient(f), size = abs(known);
  const Array large = has_no_square(size), safe = where(large, 1, size);
  const Array near = log1p(add(safe, divide(square(safe), add(1, sqrt(add(square(safe), 1))))));
  const Array value = where(large, add(log(size), std::log(2.0)), near);
  return frontend::with_rule(
      "asinh", multiply(sign(known), value), f,
      [](const Array& ct, const Array& x, const Array&) { return multiply(ct, rsqrt(add(square(x), 1))); });
}

Array acosh(const ArrayLike& x) {
  const ArrayLike f = real_floating("acosh", x);
  const Array known = stop_gradient(f), over = subtract(known, 1);  // near 1 what it exceeds 1 by counts
  const Array large = has_no_square(over), safe = where(large, 1, over);
  const Array near = log1p(add(safe, multiply(sqrt(safe), sqrt(add(safe, 2)))));
  return frontend::with_rule("acosh", where(large, add(log(known), std::log(2.0)), near), f,
                             [](const Array& ct, const Array& x, const Array&) {
                               return multiply(ct, multiply(rsqrt(subtract(x, 1)), rsqrt(add(x, 1))));
                             });
}

Array atanh(const ArrayLike& x) {
  const ArrayLike f = real_floating("atanh", x);
  return multiply(0.5, subtract(log1p(f), log1p(negate(f))));
}

Array logical_and(const ArrayLike& a, const ArrayLike& b) {
  return bitwise_and(ArrayLike(a.array.astype(DType::kPred), a.where), b.array.astype(DType::kPred));
}
Array logical_or(const ArrayLike& a, const ArrayLike& b) {
  return bitwise_or(ArrayLike(a.array.astype(DType::kPred), a.where), b.array.astype(DType::kPred));
}
Array logical_xor(const ArrayLike& a, const ArrayLike& b) {
  return bitwise_xor(ArrayLike(a.array.astype(DType::kPred), a.where), b.array.astype(DType::kPred));
}
Array logical_not(const ArrayLike& x) { return bitwise_not(ArrayLike(x.array.astype(DType::kPred), x.where)); }

Array clip(const ArrayLike& x, const ArrayLike& low, const ArrayLike& high) { return minimum(maximum(x, low), high); }

Array isclose(const ArrayLike& a, const ArrayLike& b, double relative, double absolute) {
  const ArrayLike x = real_floating("isclose", a), y = real_floating("isclose", b);
  const Array near = less_equal(abs(subtract(x, y)), add(absolute, multiply(relative, abs(y))));
  return logical_or(equal(x, y), logical_and(near, logical_and(isfinite(x), isfinite(y))));
}

Array nan_to_num(const ArrayLike& x) {
  if (!tensor::is_floating(x.array.dtype())) return x.array;
  const Array largest = full({}, largest_finite(x.array.dtype()), x.array.dtype());
  return clip(where(isnan(x), zeros_like(x), x), negate(largest), largest);
}

}  // namespace alpa
