#include "alpa/base/error.h"
#include "alpa/frontend/autodiff.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/ops/called.h"
#include "alpa/frontend/ops/custom_derivative.h"

namespace alpa::frontend {
namespace {

using Ids = std::vector<hlo::InstructionId>;

std::vector<Array> emit_checkpoint(const Closure& closure, const Where& where);

// The function again, from its inputs behind a barrier, which holds the cotangents too: so nothing of it can be shared
// with the forward pass or be computed before the backward pass is there.
std::vector<Array> pull_back(const Function& function, const std::vector<Array>& inputs,
                             const std::vector<bool>& wanted, const std::vector<Array>& cotangents) {
  std::vector<bool> given;
  for (const Array& cotangent : cotangents) given.push_back(cotangent.defined());
  const std::vector<bool> needed = needed_parameters(function, std::vector<bool>(function.results.size(), true));
  const std::vector<Array> behind =
      optimization_barrier(joined(chosen(inputs, needed), chosen(cotangents, given)), Where::current());
  size_t next = 0;
  std::vector<Array> points = inputs, variables, seeds(cotangents.size());
  for (size_t k = 0; k < points.size(); ++k) {
    if (needed[k]) points[k] = behind[next++];
    if (!wanted[k]) continue;
    points[k] = alias(points[k]);
    variables.push_back(points[k]);
  }
  for (size_t k = 0; k < seeds.size(); ++k) {
    if (given[k]) seeds[k] = behind[next++];
  }
  const std::vector<Array> found = linearize(inline_call(function, points), variables).pullback(seeds);
  std::vector<Array> of_inputs(inputs.size());
  for (size_t k = 0, at = 0; k < of_inputs.size(); ++k) {
    if (wanted[k]) of_inputs[k] = found[at++];
  }
  return of_inputs;
}

// Forward mode: primals and tangents in one function that is recomputed in its turn.
Forward push(const Function& function, const Node& node, const std::vector<Array>& inputs,
             const std::vector<Array>& tangents) {
  std::vector<bool> active, varied;
  for (const Array& tangent : tangents) active.push_back(tangent.defined());
  const Closure both = trace_body("a checkpoint with tangents", {}, [&](const std::vector<Array>&) {
    std::vector<Array> points = inputs, variables;
    for (size_t k = 0; k < points.size(); ++k) {
      if (!active[k]) continue;
      points[k] = alias(points[k]);
      variables.push_back(points[k]);
    }
    const Forward forward = push_forward(inline_call(function, points), variables, chosen(tangents, active));
    std::vector<Array> results = forward.outputs;
    for (const Array& tangent : forward.tangents) {
      varied.push_back(tangent.defined());
      if (tangent.defined()) results.push_back(tangent);
    }
    return results;
  });
  const std::vector<Array> outputs = emit_checkpoint(both, node.where);
  Forward forward{part(outputs, 0, varied.size()), std::vector<Array>(varied.size())};
  for (size_t k = 0, next = varied.size(); k < varied.size(); ++k) {
    if (varied[k]) forward.tangents[k] = outputs[next++];
  }
  return forward;
}

std::vector<Array> emit_checkpoint(const Closure& closure, const Where& where) {
  auto primitive = std::make_shared<Primitive>();
  primitive->name = "checkpoint";
  lower_as_call(*primitive, closure.function);
  primitive->linearize = [function = closure.function](const Node& node, const std::vector<Array>& inputs,
                                                       const std::vector<bool>& wanted) {
    std::vector<Array> outputs = emit(node.primitive, inputs, node.shapes, node.where, node.weak);
    return Linearized{std::move(outputs), [function, inputs, wanted](const std::vector<Array>& cotangents) {
                        return pull_back(*function, inputs, wanted, cotangents);
                      }};
  };
  primitive->push = [function = closure.function](const Node& node, const std::vector<Array>& inputs,
                                                  const std::vector<Array>& tangents) {
    return push(*function, node, inputs, tangents);
  };
  return emit(std::move(primitive), closure.captured, shapes_of(closure.function->results), where);
}

Ids lower_barrier(Lowering& lowering, const Node& node, const Ids& operands) {
  hlo::ComputationBuilder& builder = lowering.builder();
  const hlo::InstructionId tuple = builder.tuple(chosen(operands, lowering.used()));
  const hlo::InstructionId barrier = builder.op(hlo::Opcode::kOptimizationBarrier, builder.shape(tuple), {tuple});
  Ids outputs(node.shapes.size(), -1);
  for (size_t k = 0, at = 0; k < outputs.size(); ++k) {
    if (lowering.used()[k]) outputs[k] = builder.get_tuple_element(barrier, static_cast<int64_t>(at++));
  }
  return outputs;
}

std::vector<Array> barrier_of_defined(const std::vector<Array>& arrays) {
  std::vector<bool> there;
  for (const Array& array : arrays) there.push_back(array.defined());
  const std::vector<Array> behind = optimization_barrier(chosen(arrays, there), Where::current());
  std::vector<Array> result(arrays.size());
  for (size_t k = 0, next = 0; k < arrays.size(); ++k) {
    if (there[k]) result[k] = behind[next++];
  }
  return result;
}

}  // namespace

FlatArrays checkpoint(const FlatFunction& function, const FlatArrays& arguments, const Where& where) {
  const Closure closure =
      trace_body("a checkpointed function", {}, [&](const std::vector<Array>&) { return function(arguments); });
  return emit_checkpoint(closure, where);
}

FlatArrays optimization_barrier(const FlatArrays& arrays, const Where& where) {
  static const auto primitive = std::make_shared<const Primitive>(
      Primitive{.name = "optimization_barrier",
                .lower = lower_barrier,
                .vjp = [](const VjpArguments& a) { return barrier_of_defined(a.cotangents); },
                .jvp = [](const JvpArguments& a) { return barrier_of_defined(a.tangents); },
                .needs = [](const Node&, const std::vector<bool>& used) { return used; }});
  if (arrays.empty()) return {};
  for (const Array& array : arrays)
    require<InvalidArgumentError>(array.defined(), "optimization_barrier", "an array at {} was never assigned",
                                  to_string(where));
  return emit(primitive, arrays, shapes_of(arrays), where);
}

}  // namespace alpa::frontend
