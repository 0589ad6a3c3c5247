#include <cmath>
#include <cstring>

#include "alpa/base/error.h"
#include "alpa/frontend/autodiff.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/ops/elementwise_rules.h"
#include "alpa/frontend/ops/shape.h"
#include "alpa/frontend/promotion.h"

// The operations of elementwise.h whose result has another element type than their operands, or is chosen by a bool.
namespace alpa {
namespace {

using frontend::is_differentiable;
using frontend::Lowering;
using frontend::Node;
using frontend::Primitive;
using frontend::VjpArguments;

DType part_of_complex(DType dtype) { return dtype == DType::kC128 ? DType::kF64 : DType::kF32; }
DType complex_of(DType dtype) { return dtype == DType::kF64 ? DType::kC128 : DType::kC64; }

std::shared_ptr<const Primitive> comparison(const char* name, const char* direction) {
  return std::make_shared<const Primitive>(Primitive{
      .name = name, .lower = [direction](Lowering& lowering, const Node&, const std::vector<int32_t>& operands) {
        return std::vector<int32_t>{lowering.builder().compare(direction, operands[0], operands[1])};
      }});
}

Array compare(const std::shared_ptr<const Primitive>& primitive, const ArrayLike& a, const ArrayLike& b) {
  const auto operands = frontend::promoted_and_broadcast(primitive->name.c_str(), {a.array, b.array}, a.where);
  return frontend::emit_one(primitive, operands, Shape(DType::kPred, operands[0].dims()), a.where);
}

// Complex numbers have no order.
Array ordered(const std::shared_ptr<const Primitive>& primitive, const ArrayLike& a, const ArrayLike& b) {
  const DType dtype = promote({a.array, b.array}).dtype;
  frontend::require_dtype(!tensor::is_complex(dtype), primitive->name.c_str(), a, "real numbers");
  return compare(primitive, a, b);
}

// A C++ number as an element: towards zero if that is an integer, which must hold it.
tensor::Literal number_as(DType dtype, const Node& number, Where where) {
  tensor::Literal literal(Shape(dtype, {}));
  if (!tensor::is_integral(dtype)) {
    literal.set(0, static_cast<double>(number.number));
    return literal;
  }
  const int bits = static_cast<int>(tensor::bit_width(dtype));
  const bool is_signed = frontend::is_signed(dtype);
  const long double limit = std::ldexp(1.0L, is_signed ? bits - 1 : bits), whole = std::trunc(number.number);
  const bool fits = whole >= (is_signed ? -limit : 0) && whole < limit;
  require<InvalidArgumentError>(fits, "astype", "{} at {} is out of range for {}", number.number,
                                frontend::to_string(where), tensor::name(dtype));
  if (dtype == DType::kU64) {  // beyond what a double tells apart
    const auto exact = static_cast<uint64_t>(whole);
    std::memcpy(literal.mutable_bytes().data(), &exact, sizeof(exact));
  } else if (dtype == DType::kS64) {
    const auto exact = static_cast<int64_t>(whole);
    std::memcpy(literal.mutable_bytes().data(), &exact, sizeof(exact));
  } else {
    literal.set(0, static_cast<double>(whole));
  }
  return literal;
}

// One instruction with a result of another element type than its operand.
Array typed(const char* name, hlo::Opcode opcode, const std::vector<Array>& operands, DType dtype, Where where,
            std::function<std::vector<Array>(const VjpArguments&)> vjp) {
  return frontend::emit_one(Primitive{.name = name, .lower = frontend::lower_to(opcode), .vjp = std::move(vjp)},
                            operands, Shape(dtype, operands[0].dims()), where);
}

}  // namespace

Array equal(const ArrayLike& a, const ArrayLike& b) {
  static const auto primitive = comparison("equal", "EQ");
  return compare(primitive, a, b);
}
Array not_equal(const ArrayLike& a, const ArrayLike& b) {
  static const auto primitive = comparison("not_equal", "NE");
  return compare(primitive, a, b);
}
Array less(const ArrayLike& a, const ArrayLike& b) {
  static const auto primitive = comparison("less", "LT");
  return ordered(primitive, a, b);
}
Array less_equal(const ArrayLike& a, const ArrayLike& b) {
  static const auto primitive = comparison("less_equal", "LE");
  return ordered(primitive, a, b);
}
Array greater(const ArrayLike& a, const ArrayLike& b) {
  static const auto primitive = comparison("greater", "GT");
  return ordered(primitive, a, b);
}
Array greater_equal(const ArrayLike& a, const ArrayLike& b) {
  static const auto primitive = comparison("greater_equal", "GE");
  return ordered(primitive, a, b);
}

Array isfinite(const ArrayLike& x) {
  if (tensor::is_complex(x.array.dtype())) return logical_and(isfinite(real(x)), isfinite(imag(x)));
  const Array f = frontend::as_floating(x.array);
  return typed("isfinite", hlo::Opcode::kIsFinite, {f}, DType::kPred, x.where, nullptr);
}

Array isnan(const ArrayLike& x) { return not_equal(x, x); }

Array isinf(const ArrayLike& x) {
  if (tensor::is_complex(x.array.dtype())) return logical_or(isinf(real(x)), isinf(imag(x)));
  return logical_not(logical_or(isfinite(x), isnan(x)));
}

Array abs(const ArrayLike& x) {
  static const auto numbers =
      frontend::unary_primitive("abs", hlo::Opcode::kAbs, [](const Array& ct, const Array& x, const Array&) {
        return where(greater_equal(x, 0), ct, negate(ct));  // at 0 it is 1, as JAX has it
      });
  const DType dtype = x.array.dtype();
  if (!is_differentiable(dtype) && !frontend::is_signed(dtype)) return x.array;
  if (!tensor::is_complex(dtype)) return frontend::unary(numbers, x);
  // The derivative at 0 is 0, as JAX has it.
  return typed("abs", hlo::Opcode::kAbs, {x.array}, part_of_complex(dtype), x.where, [](const VjpArguments& a) {
    const Array& size = a.outputs[0];
    const Array scaled = divide(a.cotangent(), where(equal(size, 0), ones_like(size), size));
    return std::vector<Array>{
        complex(multiply(scaled, real(a.inputs[0])), negate(multiply(scaled, imag(a.inputs[0]))))};
  });
}

Array real(const ArrayLike& x) {
  if (!tensor::is_complex(x.array.dtype())) return x.array;
  return typed(
      "real", hlo::Opcode::kReal, {x.array}, part_of_complex(x.array.dtype()), x.where,
      [](const VjpArguments& a) { return std::vector<Array>{complex(a.cotangent(), zeros_like(a.cotangent()))}; });
}

Array imag(const ArrayLike& x) {
  if (!tensor::is_complex(x.array.dtype())) return zeros_like(x.array);
  return typed("imag", hlo::Opcode::kImag, {x.array}, part_of_complex(x.array.dtype()), x.where,
               [](const VjpArguments& a) {
                 return std::vector<Array>{complex(zeros_like(a.cotangent()), negate(a.cotangent()))};
               });
}

Array complex(const ArrayLike& re, const ArrayLike& im) {
  const auto parts = frontend::promoted_and_broadcast(
      "complex", {frontend::as_floating(re.array), frontend::as_floating(im.array)}, re.where);
  const DType part = parts[0].dtype();
  frontend::require_dtype(part == DType::kF32 || part == DType::kF64, "complex", re, "f32 or f64");
  return typed("complex", hlo::Opcode::kComplex, parts, complex_of(part), re.where, [](const VjpArguments& a) {
    return std::vector<Array>{real(a.cotangent()), negate(imag(a.cotangent()))};
  });
}

Array conj(const ArrayLike& x) {
  return tensor::is_complex(x.array.dtype()) ? complex(real(x), negate(imag(x))) : x.array;
}

Array where(const ArrayLike& condition, const ArrayLike& x, const ArrayLike& y) {
  static const auto primitive = std::make_shared<const Primitive>(
      Primitive{.name = "where", .lower = frontend::lower_to(hlo::Opcode::kSelect), .vjp = [](const VjpArguments& a) {
                  const Array none = zeros_like(a.cotangent());
                  return std::vector<Array>{Array(), where(a.inputs[0], a.cotangent(), none),
                                            where(a.inputs[0], none, a.cotangent())};
                }});
  std::vector<Array> operands = frontend::promoted({x.array, y.array}, x.where);
  operands.insert(operands.begin(), condition.array.astype(DType::kPred, condition.where));
  const Dims dims = frontend::broadcast_dims("where", operands, condition.where);
  for (Array& operand : operands) operand = broadcast_to(operand, dims, condition.where);
  return frontend::emit_one(primitive, operands, operands[1].shape(), condition.where,
                            promote({x.array, y.array}).weak);
}

Array bitcast(const ArrayLike& x, DType dtype) {
  frontend::require_dtype(tensor::bit_width(x.array.dtype()) == tensor::bit_width(dtype), "bitcast", x,
                          "an element type of the same width");
  if (x.array.dtype() == dtype) return x.array;
  return typed("bitcast", hlo::Opcode::kBitcastConvert, {x.array}, dtype, x.where, nullptr);
}

Array stop_gradient(const ArrayLike& x) {
  static const auto primitive = std::make_shared<const Primitive>(
      Primitive{.name = "stop_gradient",
                .lower = [](Lowering&, const Node&, const std::vector<int32_t>& operands) { return operands; },
                .vjp = [](const VjpArguments&) { return std::vector<Array>{Array()}; },
                .jvp = [](const frontend::JvpArguments&) { return std::vector<Array>{Array()}; }});
  return frontend::unary(primitive, x);
}

Array Array::astype(DType dtype, Where where) const {
  if (!defined())
    raise<InvalidArgumentError>("astype", "the Array at {} was never assigned", frontend::to_string(where));
  promote({dtype, false}, {this->dtype(), false});  // an element type that operations know
  if (this->dtype() == dtype && !is_weak()) return *this;
  if (is_weak() && frontend::is_number(*node_)) {
    return Array(number_as(dtype, *node_, where));
  }
  if (dtype == DType::kPred && this->dtype() != DType::kPred) return not_equal(*this, 0);
  if (tensor::is_complex(this->dtype()) && !tensor::is_complex(dtype)) return real(*this).astype(dtype, where);
  if (this->dtype() == dtype) {  // only the weakness goes
    static const auto strengthen = std::make_shared<const Primitive>(
        Primitive{.name = "astype",
                  .lower = [](Lowering&, const Node&, const std::vector<int32_t>& operands) { return operands; },
                  .vjp = [](const VjpArguments& a) { return a.cotangents; }});
    return frontend::emit_one(strengthen, {*this}, shape(), where);
  }
  return frontend::emit_one(
      Primitive{
          .name = "astype",
          .lower = frontend::lower_to(hlo::Opcode::kConvert),
          .vjp = [](const VjpArguments& a) { return std::vector<Array>{a.cotangent().astype(a.inputs[0].dtype())}; }},
      {*this}, Shape(dtype, dims()), where);
}

}  // namespace alpa
