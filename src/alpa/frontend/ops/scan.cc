#include "alpa/frontend/ops/scan.h"

#include "alpa/base/error.h"
#include "alpa/frontend/lower.h"

namespace alpa::frontend {
namespace {

using Id = hlo::InstructionId;
using Ids = std::vector<Id>;

// What of a loop is computed, by output and by input.
struct Needed {
  std::vector<bool> results;
  std::vector<bool> inputs;
};

Needed needed_of(const ScanLoop& loop, const std::vector<bool>& used) {
  Needed needed{with_needed_carry(*loop.body, loop.num_carry, used), {}};
  needed.inputs = needed_parameters(*loop.body, needed.results);
  for (size_t k = 0; k < loop.num_carry; ++k) needed.inputs[k] = needed.results[k];
  return needed;
}

// JAX's form of a scan: a while over (counter, carry, ys, xs, constants), all but the first three handed through. The
// body takes slice `counter` of the xs and puts its results into the ys; in reverse, slice `length - counter - 1`.
class ScanLowering {
 public:
  ScanLowering(Lowering& lowering, const ScanLoop& loop) : lowering_(lowering), loop_(loop) {
    needed_ = needed_of(loop, lowering.used());
  }

  Ids run(const Node& node, const Ids& operands) {
    if (loop_.length == 0) return without_iterations(node, operands);
    hlo::ComputationBuilder& builder = lowering_.builder();
    Ids init = {builder.scalar(DType::kS32, 0)};
    append(init, operands, 0, loop_.num_carry);
    for (size_t k = loop_.num_carry; k < node.shapes.size(); ++k) {
      if (needed_.results[k]) init.push_back(zeros(node.shapes[k]));
    }
    append(init, operands, loop_.num_carry, operands.size());
    const Id tuple = builder.tuple(init);
    const Shape shape = builder.shape(tuple);
    const Id result = builder.calling(hlo::Opcode::kWhile, shape, {tuple}, {body(shape), condition(shape)});
    Ids outputs(node.shapes.size(), -1);
    int64_t element = 1;
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (needed_.results[k]) outputs[k] = builder.get_tuple_element(result, element++);
    }
    return outputs;
  }

 private:
  Id zeros(const Shape& shape) {
    hlo::ComputationBuilder& builder = lowering_.builder();
    return builder.with_dimensions(hlo::Opcode::kBroadcast, shape, {builder.scalar(shape.dtype, 0)}, {});
  }

  Ids without_iterations(const Node& node, const Ids& operands) {
    Ids outputs(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(loop_.num_carry));
    for (size_t k = loop_.num_carry; k < node.shapes.size(); ++k)
      outputs.push_back(needed_.results[k] ? zeros(node.shapes[k]) : -1);
    return outputs;
  }

  void append(Ids& list, const Ids& operands, size_t begin, size_t end) const {
    for (size_t k = begin; k < end; ++k) {
      if (needed_.inputs[k]) list.push_back(operands[k]);
    }
  }

  hlo::ComputationId condition(const Shape& tuple) {
    Lowering inner = lowering_.nested("condition");
    hlo::ComputationBuilder& builder = inner.builder();
    const Id counter = builder.get_tuple_element(builder.parameter(tuple), 0);
    const Id root = builder.compare("LT", counter, builder.scalar(DType::kS32, static_cast<double>(loop_.length)));
    return lowering_.add(std::move(inner).build(root));
  }

  hlo::ComputationId body(const Shape& tuple) {
    Lowering inner = lowering_.nested("body");
    hlo::ComputationBuilder& builder = inner.builder();
    const Id parameter = builder.parameter(tuple);
    Ids elements;
    for (size_t k = 0; k < tuple.elements.size(); ++k)
      elements.push_back(builder.get_tuple_element(parameter, static_cast<int64_t>(k)));
    const Id one = builder.scalar(DType::kS32, 1);
    const Id zero = builder.scalar(DType::kS32, 0);
    const Id next = builder.op(hlo::Opcode::kAdd, Shape(DType::kS32, {}), {elements[0], one});
    Id index = elements[0];
    if (loop_.reverse) {
      const Id length = builder.scalar(DType::kS32, static_cast<double>(loop_.length));
      const Id left = builder.op(hlo::Opcode::kSubtract, Shape(DType::kS32, {}), {length, elements[0]});
      index = builder.op(hlo::Opcode::kSubtract, Shape(DType::kS32, {}), {left, one});
    }
    const size_t num_outputs = static_cast<size_t>(std::count(needed_.results.begin(), needed_.results.end(), true));
    Ids arguments(loop_.body->parameters.size(), -1);
    size_t carry_at = 1, input_at = 1 + num_outputs;
    for (size_t k = 0; k < arguments.size(); ++k) {
      if (!needed_.inputs[k]) continue;
      const Id element = elements[k < loop_.num_carry ? carry_at++ : input_at++];
      const bool is_xs = k >= loop_.num_carry && k < loop_.num_carry + loop_.num_xs;
      arguments[k] = is_xs ? slice(builder, element, index, zero) : element;
    }
    const Ids results = inner.run(loop_.body->parameters, arguments, chosen(loop_.body->results, needed_.results));
    builder.set_op_name("");
    Ids root = {next};
    for (size_t k = 0, at = 0; k < needed_.results.size(); ++k) {
      if (!needed_.results[k]) continue;
      root.push_back(k < loop_.num_carry ? results[at] : put(builder, elements[1 + at], results[at], {index, zero}));
      ++at;
    }
    root.insert(root.end(), elements.begin() + static_cast<std::ptrdiff_t>(1 + num_outputs), elements.end());
    return lowering_.add(std::move(inner).build(builder.tuple(root)));
  }

  static Id slice(hlo::ComputationBuilder& builder, Id whole, Id index, Id zero) {
    const Shape& shape = builder.shape(whole);
    Shape one = shape;
    one.dims[0] = 1;
    Ids operands = {whole, index};
    operands.resize(1 + shape.dims.size(), zero);
    const Shape element = slice_of(shape);
    return builder.op(hlo::Opcode::kReshape, element, {builder.dynamic_slice(one, operands)});
  }

  static Id put(hlo::ComputationBuilder& builder, Id whole, Id element, std::pair<Id, Id> index_and_zero) {
    const Shape shape = builder.shape(whole);
    Shape one = shape;
    one.dims[0] = 1;
    Ids operands = {whole, builder.op(hlo::Opcode::kReshape, one, {element}), index_and_zero.first};
    operands.resize(2 + shape.dims.size(), index_and_zero.second);
    return builder.op(hlo::Opcode::kDynamicUpdateSlice, shape, operands);
  }

  Lowering& lowering_;
  const ScanLoop& loop_;
  Needed needed_;
};

}  // namespace

Shape stacked(const Shape& shape, int64_t length) {
  Dims dims = shape.dims;
  dims.insert(dims.begin(), length);
  return {shape.dtype, std::move(dims)};
}

Shape slice_of(const Shape& shape) { return {shape.dtype, Dims(shape.dims.begin() + 1, shape.dims.end())}; }

std::vector<bool> with_active_carry(const Function& body, size_t num_carry, std::vector<bool> active) {
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<bool> dependent = dependent_results(body, active);
    for (size_t k = 0; k < num_carry; ++k) {
      changed = changed || (dependent[k] && !active[k]);
      active[k] = active[k] || dependent[k];
    }
  }
  return active;
}

std::vector<bool> with_needed_carry(const Function& body, size_t num_carry, std::vector<bool> used) {
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<bool> parameters = needed_parameters(body, used);
    for (size_t k = 0; k < num_carry; ++k) {
      changed = changed || (parameters[k] && !used[k]);
      used[k] = used[k] || parameters[k];
    }
  }
  return used;
}

std::vector<Array> emit_scan(const ScanLoop& loop, const std::vector<Array>& inputs, const Where& where) {
  ALPA_CHECK(inputs.size() == loop.body->parameters.size());
  std::vector<Shape> shapes;
  for (size_t k = 0; k < loop.body->results.size(); ++k) {
    const Shape& shape = loop.body->results[k].shape();
    shapes.push_back(k < loop.num_carry ? shape : stacked(shape, loop.length));
  }
  Primitive primitive;
  primitive.name = "scan";
  primitive.lower = [loop](Lowering& lowering, const Node& node, const Ids& operands) {
    return ScanLowering(lowering, loop).run(node, operands);
  };
  primitive.linearize = [loop](const Node& node, const std::vector<Array>& of, const std::vector<bool>& wanted) {
    return linearize_scan(loop, node, of, wanted);
  };
  primitive.push = [loop](const Node& node, const std::vector<Array>& of, const std::vector<Array>& tangents) {
    return push_scan(loop, node, of, tangents);
  };
  primitive.needs = [loop](const Node&, const std::vector<bool>& used) { return needed_of(loop, used).inputs; };
  return emit(std::make_shared<const Primitive>(std::move(primitive)), inputs, std::move(shapes), where);
}

}  // namespace alpa::frontend
