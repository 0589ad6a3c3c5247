#include "alpa/frontend/ops/custom_derivative.h"

#include "alpa/base/error.h"
#include "alpa/frontend/autodiff.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/ops/called.h"
#include "alpa/frontend/ops/creation.h"

namespace alpa::frontend {
namespace {

// The rule as graphs, recorded where the function is called: the user's own functions may be gone when derivatives are
// taken. Parameters: arguments (of the backward one: residuals and cotangents), then what any of them captures.
struct VjpGraphs {
  std::shared_ptr<const Function> forward, backward;
  size_t num_outputs = 0;
  size_t num_arguments = 0;
  std::vector<bool> given;  ///< Arguments that get a cotangent.
};

void check_shapes(const char* op, const std::vector<Array>& found, const std::vector<Shape>& expected,
                  const std::string& what) {
  require<InvalidArgumentError>(found.size() == expected.size(), op, "{}: {} arrays instead of {}", what, found.size(),
                                expected.size());
  for (size_t k = 0; k < found.size(); ++k) {
    if (!found[k].defined()) continue;
    require<InvalidArgumentError>(found[k].shape() == expected[k], op, "{} {} is {} instead of {}", what, k,
                                  tensor::to_string(found[k].shape()), tensor::to_string(expected[k]));
  }
}

Linearized linearize_custom(const VjpGraphs& graphs, const Node& node, const std::vector<Array>& inputs,
                            const std::vector<bool>& wanted) {
  for (size_t k = graphs.num_arguments; k < wanted.size(); ++k)
    require<UnsupportedError>(
        !wanted[k], "custom_vjp",
        "the function called at {} uses a {} that is differentiated: make it an argument, so that "
        "the backward function can give its cotangent",
        to_string(node.where), tensor::to_string(inputs[k].shape()));
  const std::vector<Array> captured = part(inputs, graphs.num_arguments, inputs.size() - graphs.num_arguments);
  const std::vector<Array> all = inline_call(*graphs.forward, inputs);
  const std::vector<Array> residuals = part(all, graphs.num_outputs, all.size() - graphs.num_outputs);
  return {part(all, 0, graphs.num_outputs), [=, shapes = node.shapes](const std::vector<Array>& cotangents) {
            std::vector<Array> arguments = residuals;
            for (size_t k = 0; k < cotangents.size(); ++k) arguments.push_back(instantiate(cotangents[k], shapes[k]));
            const std::vector<Array> found = inline_call(*graphs.backward, joined(std::move(arguments), captured));
            std::vector<Array> of_inputs(inputs.size());
            for (size_t k = 0, next = 0; k < graphs.given.size(); ++k) {
              if (graphs.given[k]) of_inputs[k] = found[next++];
            }
            return of_inputs;
          }};
}

// Value and tangents by the rule.
std::vector<Array> apply_rule(const Function& rule, const std::vector<Array>& inputs, size_t num_arguments,
                              const std::vector<Array>& tangents) {
  std::vector<Array> arguments = part(inputs, 0, num_arguments);
  for (size_t k = 0; k < num_arguments; ++k) arguments.push_back(instantiate(tangents[k], inputs[k].shape()));
  return inline_call(rule, joined(std::move(arguments), part(inputs, num_arguments, inputs.size() - num_arguments)));
}

// The tangent is linear in the tangents, so its pullback at zero is its transpose.
Linearized transpose_rule(const Function& rule, const Node& node, const std::vector<Array>& inputs,
                          const std::vector<bool>& wanted, size_t num_arguments) {
  std::vector<Array> tangents(num_arguments), variables;
  for (size_t k = 0; k < num_arguments; ++k) {
    if (!wanted[k]) continue;
    tangents[k] = alias(instantiate({}, inputs[k].shape()));
    variables.push_back(tangents[k]);
  }
  const size_t num_outputs = node.shapes.size();
  const std::vector<Array> all = apply_rule(rule, inputs, num_arguments, tangents);
  Linearized linear = linearize(part(all, num_outputs, num_outputs), variables);
  return {part(all, 0, num_outputs), [wanted, size = inputs.size(), num_arguments,
                                      pull = std::move(linear.pullback)](const std::vector<Array>& cotangents) {
            const std::vector<Array> found = pull(cotangents);
            std::vector<Array> of_inputs(size);
            for (size_t k = 0, next = 0; k < num_arguments; ++k) {
              if (wanted[k]) of_inputs[k] = found[next++];
            }
            return of_inputs;
          }};
}

void require_no_captured(const std::vector<bool>& active, size_t num_arguments, const Node& node) {
  for (size_t k = num_arguments; k < active.size(); ++k)
    require<UnsupportedError>(!active[k], "custom_jvp",
                              "the function called at {} uses an array that is differentiated: make it an argument",
                              to_string(node.where));
}

}  // namespace

FlatArrays custom_vjp(const CustomVjp& rule, const FlatArrays& arguments, const std::vector<std::string>& paths) {
  require_defined("custom_vjp", arguments, paths, rule.where);
  VjpGraphs graphs;
  graphs.num_arguments = arguments.size();
  const std::vector<Shape> shapes = shapes_of(arguments);
  const Closure function = trace_body("a function with its own vjp", shapes, rule.function);
  const std::vector<Shape> output_shapes = shapes_of(function.function->results);
  graphs.num_outputs = output_shapes.size();
  const Closure forward = trace_body("a forward function", shapes, [&](const FlatArrays& inputs) {
    const OutputsAndResiduals found = rule.forward(inputs);
    check_shapes("custom_vjp", found.outputs, output_shapes, "forward's output");
    return joined(found.outputs, found.residuals);
  });
  const std::vector<Array>& results = forward.function->results;
  const std::vector<Shape> residual_shapes =
      shapes_of(part(results, graphs.num_outputs, results.size() - graphs.num_outputs));
  std::vector<Shape> backward_shapes = residual_shapes;
  backward_shapes.insert(backward_shapes.end(), output_shapes.begin(), output_shapes.end());
  const Closure backward = trace_body("a backward function", backward_shapes, [&](const FlatArrays& inputs) {
    const size_t count = residual_shapes.size();
    const FlatArrays found = rule.backward(part(inputs, 0, count), part(inputs, count, inputs.size() - count));
    check_shapes("custom_vjp", found, shapes, "backward's cotangent");
    FlatArrays given;
    for (const Array& cotangent : found) {
      graphs.given.push_back(cotangent.defined());
      if (cotangent.defined()) given.push_back(cotangent);
    }
    return given;
  });
  const std::vector<Array> captured = captured_by({function, forward, backward});
  graphs.forward = widened(forward, captured);
  graphs.backward = widened(backward, captured);
  auto primitive = std::make_shared<Primitive>();
  primitive->name = "custom_vjp";
  lower_as_call(*primitive, widened(function, captured));
  primitive->linearize = [graphs](const Node& node, const std::vector<Array>& inputs, const std::vector<bool>& wanted) {
    return linearize_custom(graphs, node, inputs, wanted);
  };
  return emit(std::move(primitive), joined(arguments, captured), output_shapes, rule.where);
}

FlatArrays custom_jvp(const CustomJvp& rule, const FlatArrays& arguments) {
  const size_t count = arguments.size();
  const std::vector<Shape> shapes = shapes_of(arguments);
  std::vector<Shape> both = shapes;
  both.insert(both.end(), shapes.begin(), shapes.end());
  const Closure function = trace_body("a function with its own jvp", shapes, rule.function);
  const std::vector<Shape> output_shapes = shapes_of(function.function->results);
  std::vector<Shape> expected = output_shapes;
  expected.insert(expected.end(), output_shapes.begin(), output_shapes.end());
  const Closure pushed = trace_body("a jvp rule", both, [&](const FlatArrays& inputs) {
    FlatArrays found = rule.rule(part(inputs, 0, count), part(inputs, count, count));
    check_shapes("custom_jvp", found, expected, "the rule's value or tangent");
    for (size_t k = output_shapes.size(); k < found.size(); ++k) found[k] = instantiate(found[k], expected[k]);
    return found;
  });
  const std::vector<Array> captured = captured_by({function, pushed});
  auto primitive = std::make_shared<Primitive>();
  primitive->name = "custom_jvp";
  lower_as_call(*primitive, widened(function, captured));
  const auto wide = widened(pushed, captured);
  primitive->linearize = [wide, count](const Node& node, const std::vector<Array>& inputs,
                                       const std::vector<bool>& wanted) {
    require_no_captured(wanted, count, node);
    return transpose_rule(*wide, node, inputs, wanted, count);
  };
  primitive->push = [wide, count](const Node& node, const std::vector<Array>& inputs,
                                  const std::vector<Array>& tangents) {
    std::vector<bool> active;
    for (const Array& tangent : tangents) active.push_back(tangent.defined());
    require_no_captured(active, count, node);
    const std::vector<Array> all = apply_rule(*wide, inputs, count, tangents);
    return Forward{part(all, 0, node.shapes.size()), part(all, node.shapes.size(), node.shapes.size())};
  };
  return emit(std::move(primitive), joined(arguments, captured), output_shapes, rule.where);
}

}  // namespace alpa::frontend
