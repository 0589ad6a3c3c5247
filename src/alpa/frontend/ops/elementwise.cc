#include "alpa/frontend/ops/elementwise.h"

#include <cmath>

#include "alpa/base/error.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/elementwise_rules.h"
#include "alpa/frontend/promotion.h"

// The operations of elementwise.h that are one HLO instruction: name, opcode and derivative of each.
namespace alpa {
namespace {

using frontend::binary;
using frontend::binary_primitive;
using frontend::floating;
using frontend::require_dtype;
using frontend::unary;
using frontend::unary_primitive;
using hlo::Opcode;

bool is_number(DType dtype) { return dtype != DType::kPred; }
bool is_real(DType dtype) { return tensor::is_integral(dtype) || tensor::is_floating(dtype); }
bool is_bits(DType dtype) { return dtype == DType::kPred || tensor::is_integral(dtype); }

Array constant_like(const Array& x, double value) { return full(x.dims(), value, x.dtype()); }

// Half of the cotangent to each of two equal operands, as their mean derivative.
Array share_of_larger(const Array& ct, const Array& mine, const Array& other) {
  const Array half = constant_like(ct, 0.5);
  const Array share =
      where(equal(mine, other), half, where(greater(mine, other), constant_like(ct, 1), constant_like(ct, 0)));
  return ct * share;
}

}  // namespace

Array add(const ArrayLike& a, const ArrayLike& b) {
  static const auto numbers = binary_primitive(
      "add", Opcode::kAdd, [](const Array& ct, const Array&, const Array&, const Array&) { return ct; },
      [](const Array& ct, const Array&, const Array&, const Array&) { return ct; });
  static const auto truths = binary_primitive("add", Opcode::kOr, nullptr, nullptr);
  return binary(promote({a.array, b.array}).dtype == DType::kPred ? truths : numbers, a, b);
}

Array subtract(const ArrayLike& a, const ArrayLike& b) {
  static const auto primitive = binary_primitive(
      "subtract", Opcode::kSubtract, [](const Array& ct, const Array&, const Array&, const Array&) { return ct; },
      [](const Array& ct, const Array&, const Array&, const Array&) { return negate(ct); });
  require_dtype(is_number(promote({a.array, b.array}).dtype), "subtract", a, "numbers");
  return binary(primitive, a, b);
}

Array multiply(const ArrayLike& a, const ArrayLike& b) {
  static const auto numbers = binary_primitive(
      "multiply", Opcode::kMultiply,
      [](const Array& ct, const Array&, const Array& y, const Array&) { return multiply(ct, y); },
      [](const Array& ct, const Array& x, const Array&, const Array&) { return multiply(ct, x); });
  static const auto truths = binary_primitive("multiply", Opcode::kAnd, nullptr, nullptr);
  return binary(promote({a.array, b.array}).dtype == DType::kPred ? truths : numbers, a, b);
}

Array divide(const ArrayLike& a, const ArrayLike& b) {
  static const auto primitive = binary_primitive(
      "divide", Opcode::kDivide,
      [](const Array& ct, const Array&, const Array& y, const Array&) { return divide(ct, y); },
      [](const Array& ct, const Array&, const Array& y, const Array& quotient) {
        return negate(divide(multiply(ct, quotient), y));
      });
  return binary(primitive, floating(a), floating(b));
}

Array remainder(const ArrayLike& a, const ArrayLike& b) {
  static const auto primitive = binary_primitive(
      "remainder", Opcode::kRemainder, [](const Array& ct, const Array&, const Array&, const Array&) { return ct; },
      [](const Array& ct, const Array& x, const Array& y, const Array&) {
        const Array quotient = divide(x, y);
        return negate(multiply(ct, multiply(sign(quotient), floor(abs(quotient)))));
      });
  require_dtype(is_real(promote({a.array, b.array}).dtype), "remainder", a, "real numbers");
  return binary(primitive, a, b);
}

Array power(const ArrayLike& a, const ArrayLike& b) {
  static const auto primitive = binary_primitive(
      "power", Opcode::kPower,
      [](const Array& ct, const Array& x, const Array& y, const Array&) {
        const Array lower = power(x, where(equal(y, 0), constant_like(y, 1), subtract(y, 1)));
        return multiply(ct, multiply(y, lower));
      },
      [](const Array& ct, const Array& x, const Array&, const Array& result) {
        // The limit of x^y log x at x = 0 is 0.
        const Array safe = where(equal(x, 0), constant_like(x, 1), x);
        return multiply(ct, multiply(log(safe), result));
      });
  require_dtype(is_number(promote({a.array, b.array}).dtype), "power", a, "numbers");
  return binary(primitive, a, b);
}

Array maximum(const ArrayLike& a, const ArrayLike& b) {
  static const auto numbers = binary_primitive(
      "maximum", Opcode::kMaximum,
      [](const Array& ct, const Array& x, const Array& y, const Array&) { return share_of_larger(ct, x, y); },
      [](const Array& ct, const Array& x, const Array& y, const Array&) { return share_of_larger(ct, y, x); });
  require_dtype(!tensor::is_complex(promote({a.array, b.array}).dtype), "maximum", a, "real numbers");
  return binary(numbers, a, b);
}

Array minimum(const ArrayLike& a, const ArrayLike& b) {
  static const auto primitive = binary_primitive(
      "minimum", Opcode::kMinimum,
      [](const Array& ct, const Array& x, const Array& y, const Array&) {
        return share_of_larger(ct, negate(x), negate(y));
      },
      [](const Array& ct, const Array& x, const Array& y, const Array&) {
        return share_of_larger(ct, negate(y), negate(x));
      });
  require_dtype(!tensor::is_complex(promote({a.array, b.array}).dtype), "minimum", a, "real numbers");
  return binary(primitive, a, b);
}

Array atan2(const ArrayLike& y, const ArrayLike& x) {
  static const auto primitive = binary_primitive(
      "atan2", Opcode::kAtan2,
      [](const Array& ct, const Array& y, const Array& x, const Array&) {
        return multiply(ct, divide(x, add(square(x), square(y))));
      },
      [](const Array& ct, const Array& y, const Array& x, const Array&) {
        return multiply(ct, divide(negate(y), add(square(x), square(y))));
      });
  return binary(primitive, frontend::real_floating("atan2", y), frontend::real_floating("atan2", x));
}

Array negate(const ArrayLike& x) {
  static const auto primitive = unary_primitive("negate", Opcode::kNegate,
                                                [](const Array& ct, const Array&, const Array&) { return negate(ct); });
  require_dtype(is_number(x.array.dtype()), "negate", x, "numbers");
  return unary(primitive, x);
}

Array sign(const ArrayLike& x) {
  static const auto primitive = unary_primitive("sign", Opcode::kSign, nullptr);
  require_dtype(is_number(x.array.dtype()), "sign", x, "numbers");
  const DType dtype = x.array.dtype();
  if (tensor::is_complex(dtype)) {
    const Array size = abs(x);
    return divide(x, where(equal(size, 0), ones_like(size), size));
  }
  // HLO's sign has no form for unsigned integers.
  if (tensor::is_integral(dtype) && !frontend::is_signed(dtype)) return not_equal(x, 0).astype(dtype);
  return unary(primitive, x);
}

Array floor(const ArrayLike& x) {
  static const auto primitive = unary_primitive("floor", Opcode::kFloor, nullptr);
  return tensor::is_integral(x.array.dtype()) ? x.array : unary(primitive, frontend::real_floating("floor", x));
}

Array ceil(const ArrayLike& x) {
  static const auto primitive = unary_primitive("ceil", Opcode::kCeil, nullptr);
  return tensor::is_integral(x.array.dtype()) ? x.array : unary(primitive, frontend::real_floating("ceil", x));
}

Array round(const ArrayLike& x) {
  static const auto primitive = unary_primitive("round", Opcode::kRoundNearestEven, nullptr);
  return tensor::is_integral(x.array.dtype()) ? x.array : unary(primitive, frontend::real_floating("round", x));
}

Array trunc(const ArrayLike& x) {
  if (tensor::is_integral(x.array.dtype())) return x.array;
  return where(less(x, 0), ceil(x), floor(x));
}

Array exp(const ArrayLike& x) {
  static const auto primitive = unary_primitive(
      "exp", Opcode::kExp, [](const Array& ct, const Array&, const Array& y) { return multiply(ct, y); });
  return unary(primitive, floating(x));
}

Array expm1(const ArrayLike& x) {
  static const auto primitive = unary_primitive(
      "expm1", Opcode::kExpm1, [](const Array& ct, const Array&, const Array& y) { return multiply(ct, add(y, 1)); });
  return unary(primitive, floating(x));
}

Array log(const ArrayLike& x) {
  static const auto primitive =
      unary_primitive("log", Opcode::kLog, [](const Array& ct, const Array& x, const Array&) { return divide(ct, x); });
  return unary(primitive, floating(x));
}

Array log1p(const ArrayLike& x) {
  static const auto primitive = unary_primitive(
      "log1p", Opcode::kLog1p, [](const Array& ct, const Array& x, const Array&) { return divide(ct, add(x, 1)); });
  return unary(primitive, floating(x));
}

Array sqrt(const ArrayLike& x) {
  static const auto primitive =
      unary_primitive("sqrt", Opcode::kSqrt,
                      [](const Array& ct, const Array&, const Array& y) { return multiply(ct, divide(0.5, y)); });
  return unary(primitive, floating(x));
}

Array rsqrt(const ArrayLike& x) {
  static const auto primitive = unary_primitive(
      "rsqrt", Opcode::kRsqrt,
      [](const Array& ct, const Array& x, const Array& y) { return multiply(ct, multiply(-0.5, divide(y, x))); });
  return unary(primitive, floating(x));
}

Array cbrt(const ArrayLike& x) {
  static const auto primitive =
      unary_primitive("cbrt", Opcode::kCbrt,
                      [](const Array& ct, const Array&, const Array& y) { return divide(ct, multiply(3, square(y))); });
  return unary(primitive, frontend::real_floating("cbrt", x));
}

Array sin(const ArrayLike& x) {
  static const auto primitive = unary_primitive(
      "sin", Opcode::kSine, [](const Array& ct, const Array& x, const Array&) { return multiply(ct, cos(x)); });
  return unary(primitive, floating(x));
}

Array cos(const ArrayLike& x) {
  static const auto primitive =
      unary_primitive("cos", Opcode::kCosine,
                      [](const Array& ct, const Array& x, const Array&) { return negate(multiply(ct, sin(x))); });
  return unary(primitive, floating(x));
}

Array tanh(const ArrayLike& x) {
  static const auto primitive = unary_primitive(
      "tanh", Opcode::kTanh,
      [](const Array& ct, const Array&, const Array& y) { return multiply(ct, subtract(1, multiply(y, y))); });
  return unary(primitive, floating(x));
}

Array erf(const ArrayLike& x) {
  static const auto primitive = unary_primitive("erf", Opcode::kErf, [](const Array& ct, const Array& x, const Array&) {
    return multiply(ct, multiply(2 / std::sqrt(M_PI), exp(negate(square(x)))));
  });
  return unary(primitive, frontend::real_floating("erf", x));
}

Array sigmoid(const ArrayLike& x) {
  static const auto primitive = unary_primitive(
      "sigmoid", Opcode::kLogistic,
      [](const Array& ct, const Array&, const Array& y) { return multiply(ct, multiply(y, subtract(1, y))); });
  return unary(primitive, floating(x));
}

Array bitwise_and(const ArrayLike& a, const ArrayLike& b) {
  static const auto primitive = binary_primitive("and", Opcode::kAnd, nullptr, nullptr);
  require_dtype(is_bits(promote({a.array, b.array}).dtype), "bitwise_and", a, "integers or bools");
  return binary(primitive, a, b);
}

Array bitwise_or(const ArrayLike& a, const ArrayLike& b) {
  static const auto primitive = binary_primitive("or", Opcode::kOr, nullptr, nullptr);
  require_dtype(is_bits(promote({a.array, b.array}).dtype), "bitwise_or", a, "integers or bools");
  return binary(primitive, a, b);
}

Array bitwise_xor(const ArrayLike& a, const ArrayLike& b) {
  static const auto primitive = binary_primitive("xor", Opcode::kXor, nullptr, nullptr);
  require_dtype(is_bits(promote({a.array, b.array}).dtype), "bitwise_xor", a, "integers or bools");
  return binary(primitive, a, b);
}

Array bitwise_not(const ArrayLike& x) {
  static const auto primitive = unary_primitive("not", Opcode::kNot, nullptr);
  require_dtype(is_bits(x.array.dtype()), "bitwise_not", x, "integers or bools");
  return unary(primitive, x);
}

Array shift_left(const ArrayLike& x, const ArrayLike& bits) {
  static const auto primitive = binary_primitive("shift_left", Opcode::kShiftLeft, nullptr, nullptr);
  require_dtype(tensor::is_integral(promote({x.array, bits.array}).dtype), "shift_left", x, "integers");
  return binary(primitive, x, bits);
}

Array shift_right(const ArrayLike& x, const ArrayLike& bits) {
  static const auto logical = binary_primitive("shift_right", Opcode::kShiftRightLogical, nullptr, nullptr);
  static const auto arithmetic = binary_primitive("shift_right", Opcode::kShiftRightArithmetic, nullptr, nullptr);
  const DType dtype = promote({x.array, bits.array}).dtype;
  require_dtype(tensor::is_integral(dtype), "shift_right", x, "integers");
  return binary(frontend::is_signed(dtype) ? arithmetic : logical, x, bits);
}

Array population_count(const ArrayLike& x) {
  static const auto primitive = unary_primitive("population_count", Opcode::kPopulationCount, nullptr);
  require_dtype(tensor::is_integral(x.array.dtype()), "population_count", x, "integers");
  return unary(primitive, x);
}

Array count_leading_zeros(const ArrayLike& x) {
  static const auto primitive = unary_primitive("count_leading_zeros", Opcode::kClz, nullptr);
  require_dtype(tensor::is_integral(x.array.dtype()), "count_leading_zeros", x, "integers");
  return unary(primitive, x);
}

}  // namespace alpa
