#include "alpa/frontend/ops/bodies.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "alpa/base/error.h"
#include "alpa/frontend/autodiff.h"

namespace alpa::frontend {
namespace {

using Key = std::pair<const Node*, int>;

Key key_of(const Array& array) { return {array.node().get(), array.output()}; }

Array unbound_parameter(const Shape& shape) {
  auto node = std::make_shared<Node>();
  node->shapes = {shape};
  return {std::move(node), 0};
}

}  // namespace

std::vector<Array> joined(std::vector<Array> a, const std::vector<Array>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<Array> part(const std::vector<Array>& all, size_t begin, size_t count) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

std::vector<Shape> shapes_of(const std::vector<Array>& arrays) {
  std::vector<Shape> shapes;
  for (const Array& array : arrays) shapes.push_back(array.shape());
  return shapes;
}

void require_defined(const char* op, const std::vector<Array>& arrays, const std::vector<std::string>& paths,
                     const Where& where) {
  for (size_t k = 0; k < arrays.size(); ++k)
    require<InvalidArgumentError>(arrays[k].defined(), op, "{} at {} is an Array that was never assigned", paths[k],
                                  to_string(where));
}

Closure trace_body(const std::string& what, const std::vector<Shape>& parameters, const FlatBody& body) {
  return without_dead_captures(trace(what, parameters, body, Captures::kAll));
}

Closure without_dead_captures(Closure closure) {
  // All that is recorded, not only what is live: operations name unused inputs too.
  std::unordered_set<const Node*> recorded;
  for (const std::shared_ptr<Node>& node : reachable(closure.function->results)) recorded.insert(node.get());
  Function lean{{}, closure.function->results, closure.function->explicit_count};
  std::vector<Array> captured;
  for (size_t k = 0; k < closure.function->parameters.size(); ++k) {
    const bool is_captured = k >= lean.explicit_count;
    if (is_captured && recorded.count(closure.function->parameters[k].node().get()) == 0) continue;
    lean.parameters.push_back(closure.function->parameters[k]);
    if (is_captured) captured.push_back(closure.captured[k - lean.explicit_count]);
  }
  return {std::make_shared<const Function>(std::move(lean)), std::move(captured)};
}

std::vector<Array> captured_by(const std::vector<Closure>& closures) {
  std::vector<Array> all;
  std::map<Key, bool> seen;
  for (const Closure& closure : closures) {
    for (const Array& array : closure.captured) {
      if (seen.try_emplace(key_of(array), true).second) all.push_back(array);
    }
  }
  return all;
}

std::shared_ptr<const Function> widened(const Closure& closure, const std::vector<Array>& captured) {
  const Function& own = *closure.function;
  std::map<Key, Array> parameter_of;
  for (size_t k = 0; k < closure.captured.size(); ++k)
    parameter_of[key_of(closure.captured[k])] = own.parameters[own.explicit_count + k];
  Function wide{part(own.parameters, 0, own.explicit_count), own.results, own.explicit_count};
  for (const Array& array : captured) {
    const auto entry = parameter_of.find(key_of(array));
    wide.parameters.push_back(entry == parameter_of.end() ? unbound_parameter(array.shape()) : entry->second);
  }
  return std::make_shared<const Function>(std::move(wide));
}

std::vector<bool> dependent_results(const Function& function, const std::vector<bool>& active) {
  std::unordered_set<const Node*> dependent;
  for (size_t k = 0; k < active.size(); ++k) {
    if (active[k]) dependent.insert(function.parameters[k].node().get());
  }
  const auto depends = [&](const Array& array) {
    return is_differentiable(array.dtype()) && dependent.count(array.node().get()) > 0;
  };
  for (const std::shared_ptr<Node>& node : reachable(function.results)) {
    if (node->primitive == nullptr || node->is_known()) continue;
    if (std::any_of(node->inputs.begin(), node->inputs.end(), depends)) dependent.insert(node.get());
  }
  std::vector<bool> result;
  for (const Array& output : function.results) result.push_back(depends(output));
  return result;
}

LinearizedBody linearize_body(const Function& body, const std::vector<bool>& active) {
  TraceScope scope("the derivative of a body");
  LinearizedBody result{{}, {}, nullptr, active, scope.trace()};
  std::vector<Array> arguments, points;
  for (size_t k = 0; k < body.parameters.size(); ++k) {
    result.parameters.push_back(scope.parameter(body.parameters[k].shape(), body.parameters[k].is_weak()));
    arguments.push_back(active[k] ? alias(result.parameters[k]) : result.parameters[k]);
    if (active[k]) points.push_back(arguments[k]);
  }
  Linearized linear = linearize(inline_call(body, arguments), points);
  result.outputs = std::move(linear.outputs);
  result.pullback = std::move(linear.pullback);
  return result;
}

PulledBack pull_back_body(const LinearizedBody& body, const std::vector<bool>& cotangents) {
  PulledBack result;
  TraceScope scope("a pullback", body.trace);
  std::vector<Array> of_outputs;
  for (size_t k = 0; k < body.outputs.size(); ++k)
    of_outputs.push_back(cotangents[k] ? scope.parameter(body.outputs[k].shape()) : Array());
  const std::vector<Array> of_points = body.pullback(of_outputs);
  std::vector<Array> results;
  size_t next = 0;
  for (const bool active : body.active) {
    const Array cotangent = active ? of_points[next++] : Array();
    result.given.push_back(cotangent.defined());
    if (cotangent.defined()) results.push_back(cotangent);
  }
  Closure closure = without_dead_captures(std::move(scope).finish(std::move(results)));
  result.function = std::move(closure.function);
  result.residuals = std::move(closure.captured);
  return result;
}

}  // namespace alpa::frontend
