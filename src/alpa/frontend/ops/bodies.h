#pragma once

#include <functional>
#include <string>
#include <vector>

#include "alpa/frontend/trace.h"

/// Functions that operations hold: bodies of loops, branches, functions with derivatives of their own.
namespace alpa::frontend {

using FlatBody = std::function<std::vector<Array>(const std::vector<Array>& arguments)>;

std::vector<Array> joined(std::vector<Array> a, const std::vector<Array>& b);
/// `count` arrays from `begin` on.
std::vector<Array> part(const std::vector<Array>& all, size_t begin, size_t count);
std::vector<Shape> shapes_of(const std::vector<Array>& arrays);
/// Errors: InvalidArgumentError that says which array was never assigned.
void require_defined(const char* op, const std::vector<Array>& arrays, const std::vector<std::string>& paths,
                     const Where& where);

/// Traces a body on fresh parameters; every other array that a result needs is captured.
Closure trace_body(const std::string& what, const std::vector<Shape>& parameters, const FlatBody& body);
/// The same body without captured arrays that no result needs.
Closure without_dead_captures(Closure closure);
/// Captured arrays of all, each once.
std::vector<Array> captured_by(const std::vector<Closure>& closures);
/// The function with these captured arrays, among which its own are: some of its parameters are then not used.
std::shared_ptr<const Function> widened(const Closure& closure, const std::vector<Array>& captured);

/// Results whose derivative by a parameter marked in `active` may differ from zero.
std::vector<bool> dependent_results(const Function& function, const std::vector<bool>& active);

/// A body recorded on parameters of its own, and its pullback. What the pullback uses of it are the residuals.
struct LinearizedBody {
  std::vector<Array> parameters;
  std::vector<Array> outputs;
  std::function<std::vector<Array>(const std::vector<Array>& cotangents)> pullback;  ///< By active parameter.
  std::vector<bool> active;
  std::shared_ptr<const Trace> trace;
};
LinearizedBody linearize_body(const Function& body, const std::vector<bool>& active);

/// The pullback as a graph: from cotangents of the outputs to those of parameters, with residuals captured.
struct PulledBack {
  std::shared_ptr<const Function> function;  ///< Parameters: cotangents of the marked outputs, then the residuals.
  std::vector<Array> residuals;              ///< Arrays of the body's trace.
  std::vector<bool> given;                   ///< Which parameters of the body get a cotangent: the results, in order.
};
PulledBack pull_back_body(const LinearizedBody& body, const std::vector<bool>& cotangents);

}  // namespace alpa::frontend
