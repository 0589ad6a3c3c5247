#include <cmath>

#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/ops/elementwise_rules.h"
#include "alpa/frontend/promotion.h"

// The operations of elementwise.h that are made of others.
namespace alpa {
namespace {
ArrayLike floating(const ArrayLike& x) { return {frontend::as_floating(x.array), x.where}; }
}  // namespace

Array floor_divide(const ArrayLike& a, const ArrayLike& b) {
  const DType dtype = promote({a.array, b.array}).dtype;
  if (!tensor::is_integral(dtype)) return floor(divide(a, b));
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
  const Array larger = stop_gradient(maximum(floating(a), floating(b)));
  const Array base = where(is_finite(larger), larger, 0);
  return add(base, log(add(exp(subtract(a, base)), exp(subtract(b, base)))));
}

Array log2(const ArrayLike& x) { return divide(log(x), std::log(2.0)); }
Array square(const ArrayLike& x) { return multiply(x, x); }
Array reciprocal(const ArrayLike& x) { return divide(1, floating(x)); }
Array tan(const ArrayLike& x) { return divide(sin(x), cos(x)); }

Array asin(const ArrayLike& x) {
  const ArrayLike f = floating(x);
  return multiply(2, atan2(f, add(1, sqrt(multiply(subtract(1, f), add(1, f))))));
}

Array acos(const ArrayLike& x) {
  const ArrayLike f = floating(x);
  return subtract(M_PI / 2, asin(f));
}

Array atan(const ArrayLike& x) { return atan2(x, 1); }

Array sinh(const ArrayLike& x) {
  // From expm1, which is exact near 0: (e^x - 1 + (e^x - 1) / e^x) / 2.
  const Array e = expm1(x);
  return multiply(0.5, add(e, divide(e, add(e, 1))));
}

Array cosh(const ArrayLike& x) { return multiply(0.5, add(exp(x), exp(negate(floating(x))))); }

Array asinh(const ArrayLike& x) {
  const ArrayLike f = floating(x);
  const Array size = abs(f);
  const Array root = sqrt(add(square(size), 1));
  return multiply(sign(f), log1p(add(size, divide(square(size), add(1, root)))));
}

Array acosh(const ArrayLike& x) {
  const ArrayLike f = floating(x);
  return log(add(f, sqrt(multiply(subtract(f, 1), add(f, 1)))));
}

Array atanh(const ArrayLike& x) {
  const ArrayLike f = floating(x);
  return multiply(0.5, subtract(log1p(f), log1p(negate(f))));
}

Array logical_and(const ArrayLike& a, const ArrayLike& b) {
  return bitwise_and(ArrayLike(a.array.astype(DType::kPred), a.where), b.array.astype(DType::kPred));
}
Array logical_or(const ArrayLike& a, const ArrayLike& b) {
  return bitwise_or(ArrayLike(a.array.astype(DType::kPred), a.where), b.array.astype(DType::kPred));
}
Array logical_not(const ArrayLike& x) { return bitwise_not(ArrayLike(x.array.astype(DType::kPred), x.where)); }

Array clip(const ArrayLike& x, const ArrayLike& low, const ArrayLike& high) { return minimum(maximum(x, low), high); }

}  // namespace alpa
