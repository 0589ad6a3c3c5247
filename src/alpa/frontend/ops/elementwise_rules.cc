#include "alpa/frontend/ops/elementwise_rules.h"

#include "alpa/base/error.h"
#include "alpa/frontend/autodiff.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/promotion.h"

namespace alpa::frontend {

std::function<std::vector<int32_t>(Lowering&, const Node&, const std::vector<int32_t>&)> lower_to(hlo::Opcode opcode) {
  return [opcode](Lowering& lowering, const Node& node, const std::vector<int32_t>& operands) {
    return std::vector<int32_t>{lowering.builder().op(opcode, node.shapes[0], operands)};
  };
}

std::shared_ptr<const Primitive> unary_primitive(const char* name, hlo::Opcode opcode, UnaryRule rule) {
  Primitive primitive{.name = name, .lower = lower_to(opcode)};
  primitive.vjp = [rule](const VjpArguments& a) {
    return std::vector<Array>{rule == nullptr ? Array() : rule(a.cotangent(), a.inputs[0], a.outputs[0])};
  };
  primitive.jvp = [rule](const JvpArguments& a) {
    return std::vector<Array>{rule == nullptr ? Array() : rule(a.tangents[0], a.inputs[0], a.outputs[0])};
  };
  return std::make_shared<const Primitive>(std::move(primitive));
}

std::shared_ptr<const Primitive> binary_primitive(const char* name, hlo::Opcode opcode, BinaryRule of_a,
                                                  BinaryRule of_b) {
  Primitive primitive{.name = name, .lower = lower_to(opcode)};
  primitive.vjp = [of_a, of_b](const VjpArguments& a) {
    const auto part = [&](BinaryRule rule, size_t k) {
      if (rule == nullptr || !a.wanted[k]) return Array();
      return rule(a.cotangent(), a.inputs[0], a.inputs[1], a.outputs[0]);
    };
    return std::vector<Array>{part(of_a, 0), part(of_b, 1)};
  };
  primitive.jvp = [of_a, of_b](const JvpArguments& a) {
    const auto part = [&](BinaryRule rule, size_t k) {
      if (rule == nullptr || !a.tangents[k].defined()) return Array();
      return rule(a.tangents[k], a.inputs[0], a.inputs[1], a.outputs[0]);
    };
    return std::vector<Array>{add_tangents(part(of_a, 0), part(of_b, 1))};
  };
  return std::make_shared<const Primitive>(std::move(primitive));
}

Array unary(const std::shared_ptr<const Primitive>& primitive, const ArrayLike& x) {
  require<InvalidArgumentError>(x.array.defined(), primitive->name,
                                "the operand at {} is an Array that was never assigned", to_string(x.where));
  return emit_one(primitive, {x.array}, x.array.shape(), x.where, x.array.is_weak());
}

Array binary(const std::shared_ptr<const Primitive>& primitive, const ArrayLike& a, const ArrayLike& b) {
  const std::vector<Array> operands = promoted_and_broadcast(primitive->name.c_str(), {a.array, b.array}, a.where);
  return emit_one(primitive, operands, operands[0].shape(), a.where, promote({a.array, b.array}).weak);
}

Array with_rule(const char* name, const Array& value, const ArrayLike& x, UnaryRule rule) {
  Primitive primitive{.name = name, .lower = [](Lowering&, const Node&, const std::vector<int32_t>& operands) {
                        return std::vector<int32_t>{operands[0]};
                      }};
  primitive.vjp = [rule](const VjpArguments& a) {
    return std::vector<Array>{Array(), rule(a.cotangent(), a.inputs[1], a.outputs[0])};
  };
  primitive.jvp = [rule](const JvpArguments& a) {
    return std::vector<Array>{a.tangents[1].defined() ? rule(a.tangents[1], a.inputs[1], a.outputs[0]) : Array()};
  };
  return emit_one(std::move(primitive), {value, x.array}, x.array.shape(), x.where, x.array.is_weak());
}

ArrayLike real_floating(const char* op, const ArrayLike& x) {
  require_dtype(!tensor::is_complex(x.array.dtype()), op, x, "real numbers");
  return {as_floating(x.array), x.where};
}

Array as_floating(const Array& x) {
  if (is_differentiable(x.dtype())) return x;
  if (x.is_weak() && x.dtype() != DType::kPred) {
    // It stays weak, so that 1 / x has the element type of x.
    if (is_number(*x.node())) return Array(x.node()->number);
    Primitive convert{.name = "astype", .lower = lower_to(hlo::Opcode::kConvert)};
    return emit_one(std::move(convert), {x}, Shape(DType::kF32, x.dims()), x.node()->where, true);
  }
  return x.astype(promote({x.dtype(), x.is_weak()}, {DType::kF32, true}).dtype);
}

void require_dtype(bool holds, const char* op, const ArrayLike& x, const char* expected) {
  require<InvalidArgumentError>(holds, op, "takes {}, not {}, at {}: convert with astype", expected,
                                tensor::to_string(x.array.shape()), to_string(x.where));
}

}  // namespace alpa::frontend
