#include "alpa/frontend/transforms.h"

#include <fmt/format.h>

#include "alpa/base/error.h"
#include "alpa/frontend/autodiff.h"
#include "alpa/frontend/gradient_marker.h"
#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/trace.h"

namespace alpa::frontend {
namespace {

std::vector<Array> aliased(const std::vector<Array>& arrays) {
  std::vector<Array> result;
  for (const Array& array : arrays) result.push_back(alias(array));
  return result;
}

// Inside a trace the function's operations simply join it. Outside, a trace of its own keeps values from being read
// halfway; what it recorded is then inlined.
std::vector<Array> traced(const char* what, const std::vector<Array>& inputs,
                          const std::function<std::vector<Array>(const std::vector<Array>&)>& body) {
  if (TraceScope::current() != nullptr) return body(inputs);
  std::vector<Shape> shapes;
  for (const Array& input : inputs) shapes.push_back(input.shape());
  const Closure closure = trace(what, shapes, body);
  std::vector<Array> arguments = inputs;
  arguments.insert(arguments.end(), closure.captured.begin(), closure.captured.end());
  return inline_call(*closure.function, arguments);
}

// How many value_and_grad the thread is in: the outermost one's gradients are those that a step applies.
class GradDepth {
 public:
  GradDepth() { ++depth(); }
  ~GradDepth() { --depth(); }
  GradDepth(const GradDepth&) = delete;
  GradDepth& operator=(const GradDepth&) = delete;
  static bool outermost() { return depth() == 1; }

 private:
  static int& depth() {
    thread_local int value = 0;
    return value;
  }
};

// A tangent or cotangent has the shape of what it belongs to, and its element type unless that has no derivatives; a
// C++ number takes it.
Array matched(const char* what, const std::string& name, const Array& given, const Shape& expected) {
  const bool typed = is_differentiable(expected.dtype) && given.dtype() != expected.dtype;
  require<InvalidArgumentError>(given.dims() == expected.dims && (!typed || given.is_weak()), what,
                                "{} is {}, it must be {}", name, tensor::to_string(given.shape()),
                                tensor::to_string(expected));
  return typed ? given.astype(expected.dtype) : given;
}

void check_loss(const char* what, const std::vector<Array>& outputs) {
  require<InvalidArgumentError>(!outputs.empty() && outputs[0].rank() == 0 && tensor::is_floating(outputs[0].dtype()),
                                what,
                                "the function must return a real scalar, it returned {}: take the mean or the sum",
                                outputs.empty() ? "nothing" : tensor::to_string(outputs[0].shape()));
}

}  // namespace

GradResult value_and_grad(const char* what, const std::vector<Array>& variables, const std::vector<std::string>& paths,
                          const FlatFunction& function) {
  for (size_t k = 0; k < variables.size(); ++k) {
    require<InvalidArgumentError>(is_differentiable(variables[k].dtype()), what,
                                  "{} is {}: only floating arrays have gradients; hold others in another argument",
                                  paths[k], tensor::to_string(variables[k].shape()));
  }
  const GradDepth depth;
  const TraceScope* const scope = TraceScope::current();
  const bool marks = scope != nullptr && scope->trace()->is_step && depth.outermost();
  size_t num_outputs = 0;
  std::vector<Array> all = traced(what, variables, [&](const std::vector<Array>& inputs) {
    const std::vector<Array> points = aliased(inputs);
    const std::vector<Array> outputs = function(points);
    check_loss(what, outputs);
    Linearized linear = linearize(outputs, points);
    std::vector<Array> seeds(outputs.size());
    seeds[0] = full({}, 1, linear.outputs[0].dtype());
    const std::vector<Array> gradients = linear.pullback(seeds);
    num_outputs = outputs.size();
    std::vector<Array> results = std::move(linear.outputs);
    for (size_t k = 0; k < gradients.size(); ++k) results.push_back(instantiate(gradients[k], inputs[k].shape()));
    return marks ? mark_gradients(results, num_outputs) : results;
  });
  const auto cut = all.begin() + static_cast<std::ptrdiff_t>(num_outputs);
  return {std::vector<Array>(all.begin(), cut), std::vector<Array>(cut, all.end())};
}

Linearized vjp(const std::vector<Array>& variables, const FlatFunction& function) {
  const std::vector<Array> points = aliased(variables);
  Linearized linear = linearize(traced("vjp", points, function), points);
  linear.pullback = [pull = std::move(linear.pullback), outputs = linear.outputs,
                     variables](std::vector<Array> cotangents) {
    require<InvalidArgumentError>(cotangents.size() == outputs.size(), "vjp", "{} cotangents for {} outputs",
                                  cotangents.size(), outputs.size());
    for (size_t k = 0; k < cotangents.size(); ++k) {
      if (cotangents[k].defined())
        cotangents[k] = matched("vjp", fmt::format("cotangent {}", k), cotangents[k], outputs[k].shape());
    }
    std::vector<Array> result = pull(cotangents);
    for (size_t k = 0; k < result.size(); ++k) result[k] = instantiate(result[k], variables[k].shape());
    return result;
  };
  return linear;
}

Forward jvp(const std::vector<Array>& variables, const std::vector<Array>& tangents, const FlatFunction& function) {
  require<InvalidArgumentError>(variables.size() == tangents.size(), "jvp", "{} primals and {} tangents",
                                variables.size(), tangents.size());
  size_t num_outputs = 0;
  std::vector<Array> inputs = variables;
  for (size_t k = 0; k < variables.size(); ++k)
    inputs.push_back(tangents[k].defined()
                         ? matched("jvp", fmt::format("tangent {}", k), tangents[k], variables[k].shape())
                         : instantiate({}, variables[k].shape()));
  std::vector<Array> all = traced("jvp", inputs, [&](const std::vector<Array>& both) {
    const auto cut = both.begin() + static_cast<std::ptrdiff_t>(variables.size());
    const std::vector<Array> points = aliased({both.begin(), cut});
    Forward forward = push_forward(function(points), points, {cut, both.end()});
    num_outputs = forward.outputs.size();
    std::vector<Array> results = forward.outputs;
    for (size_t k = 0; k < num_outputs; ++k)
      results.push_back(instantiate(forward.tangents[k], forward.outputs[k].shape()));
    return results;
  });
  const auto cut = all.begin() + static_cast<std::ptrdiff_t>(num_outputs);
  return {std::vector<Array>(all.begin(), cut), std::vector<Array>(cut, all.end())};
}

}  // namespace alpa::frontend
