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
  return compare(primitive, a, b);
}
Array less_equal(const ArrayLike& a, const ArrayLike& b) {
  static const auto primitive = comparison("less_equal", "LE");
  return compare(primitive, a, b);
}
Array greater(const ArrayLike& a, const ArrayLike& b) {
  static const auto primitive = comparison("greater", "GT");
  return compare(primitive, a, b);
}
Array greater_equal(const ArrayLike& a, const ArrayLike& b) {
  static const auto primitive = comparison("greater_equal", "GE");
  return compare(primitive, a, b);
}

Array is_finite(const ArrayLike& x) {
  const Array f = frontend::as_floating(x.array);
  return typed("is_finite", hlo::Opcode::kIsFinite, {f}, DType::kPred, x.where, nullptr);
}

Array is_nan(const ArrayLike& x) { return not_equal(x, x); }

Array abs(const ArrayLike& x) {
  static const auto numbers = frontend::unary_primitive(
      "abs", hlo::Opcode::kAbs, [](const Array& ct, const Array& x, const Array&) { return multiply(ct, sign(x)); });
  if (x.array.dtype() == DType::kPred) return x.array;
  if (!tensor::is_complex(x.array.dtype())) return frontend::unary(numbers, x);
  return sqrt(add(square(real(x)), square(imag(x))));
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
  std::vector<Array> operands = frontend::promoted({x.array, y.array});
  operands.insert(operands.begin(), condition.array.astype(DType::kPred));
  const Dims dims = frontend::broadcast_dims("where", operands, condition.where);
  for (Array& operand : operands) operand = broadcast_to(operand, dims, condition.where);
  return frontend::emit_one(primitive, operands, operands[1].shape(), condition.where,
                            x.array.is_weak() && y.array.is_weak());
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
  if (this->dtype() == dtype && !is_weak()) return *this;
  if (is_weak() && frontend::is_number(*node_)) {
    tensor::Literal literal(Shape(dtype, {}));
    literal.set(0, node_->number);
    return Array(std::move(literal));
  }
  if (tensor::is_complex(this->dtype()) && !tensor::is_complex(dtype)) return real(*this).astype(dtype, where);
  if (dtype == DType::kPred) return not_equal(*this, 0);
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
