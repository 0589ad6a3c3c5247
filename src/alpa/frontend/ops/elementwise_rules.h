#pragma once

#include "alpa/frontend/node.h"
#include "alpa/hlo/opcode.h"

namespace alpa::frontend {

/// Derivative of an operation on each element alone: what a cotangent `ct` of the result gives the operand, and just so
/// what a tangent of the operand gives the result (a diagonal Jacobian is its own transpose).
using UnaryRule = Array (*)(const Array& ct, const Array& x, const Array& y);
using BinaryRule = Array (*)(const Array& ct, const Array& a, const Array& b, const Array& y);

/// True for integers below zero and above.
inline bool is_signed(DType dtype) {
  return dtype == DType::kS8 || dtype == DType::kS16 || dtype == DType::kS32 || dtype == DType::kS64;
}

/// The lowering to one HLO instruction of the result's shape.
std::function<std::vector<int32_t>(Lowering&, const Node&, const std::vector<int32_t>&)> lower_to(hlo::Opcode opcode);

/// Made once an operation, for the program's life. A null rule: the derivative is zero.
std::shared_ptr<const Primitive> unary_primitive(const char* name, hlo::Opcode opcode, UnaryRule rule);
std::shared_ptr<const Primitive> binary_primitive(const char* name, hlo::Opcode opcode, BinaryRule of_a,
                                                  BinaryRule of_b);

/// Records it. The operands of the binary form are promoted and broadcast.
Array unary(const std::shared_ptr<const Primitive>& primitive, const ArrayLike& x);
Array binary(const std::shared_ptr<const Primitive>& primitive, const ArrayLike& a, const ArrayLike& b);

/// A value in closed form, which derivatives do not look into: `value` is made of stop_gradient(x), and `rule` is its
/// derivative as a function of `x`.
Array with_rule(const char* name, const Array& value, const ArrayLike& x, UnaryRule rule);

/// `x` as a float: integers and bools become f32 (weak ones stay weak).
Array as_floating(const Array& x);
inline ArrayLike floating(const ArrayLike& x) { return {as_floating(x.array), x.where}; }
/// The same, for operations that complex numbers have not here. Errors: as require_dtype.
ArrayLike real_floating(const char* op, const ArrayLike& x);
/// Errors: InvalidArgumentError that names the operation, the element type and the place.
void require_dtype(bool holds, const char* op, const ArrayLike& x, const char* expected);

}  // namespace alpa::frontend
