#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "alpa/frontend/node.h"

namespace alpa::frontend {

/// Identity of a trace; its arrays may be used while it is open.
struct Trace {
  std::string what;  ///< Of what: "parallelize", "scan body"; for messages.
  bool open = true;
  bool is_step = false;  ///< A whole step: gradients found directly in it are marked.
};

/// A function as a graph. Parameters are leaves; those after the first `explicit_count` stand for arrays of outer
/// traces that the function uses.
struct Function {
  std::vector<Array> parameters;
  std::vector<Array> results;
  size_t explicit_count = 0;
};

/// A traced function and the outer arrays for its last parameters.
struct Closure {
  std::shared_ptr<const Function> function;
  std::vector<Array> captured;
};

/// Which arrays of elsewhere become parameters of a trace.
enum class Captures {
  kTraced,  ///< Those of outer traces; known and recorded ones stay part of the program.
  kAll,     ///< All but scalars on the host: for bodies of loops and branches, which would compute them anew each time.
};

/// The innermost trace of this thread while the object lives. Objects nest.
class TraceScope {
 public:
  explicit TraceScope(std::string what, Captures captures = Captures::kTraced);
  /// Arrays of `finished` may be used although that trace has ended: they are captured as they are.
  TraceScope(std::string what, std::shared_ptr<const Trace> finished);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

  /// A fresh parameter.
  Array parameter(const Shape& shape, bool weak = false);
  /// `array` as it may be used here: itself, or the parameter that stands for it.
  /// Errors: InvalidArgumentError if its trace has ended.
  Array import(const Array& array, const Where& where);
  /// Ends the trace. Arrays of it cannot be used any more but through the function.
  Closure finish(std::vector<Array> results) &&;

  static TraceScope* current();
  uint64_t next_sequence() const;
  const std::shared_ptr<Trace>& trace() const { return trace_; }

 private:
  bool is_own(const Array& array) const;
  bool reaches(const Trace* home) const;

  TraceScope* const outer_;
  std::shared_ptr<Trace> trace_;
  std::shared_ptr<const Trace> finished_;
  Captures captures_ = Captures::kTraced;
  std::vector<Array> parameters_;
  std::vector<Array> captured_;
  std::vector<Array> stand_ins_;
  std::map<std::pair<const Node*, int>, size_t> index_;
};

/// Traces `body` on fresh parameters.
template <typename Body>
Closure trace(std::string what, const std::vector<Shape>& parameters, Body&& body,
              Captures captures = Captures::kTraced) {
  TraceScope scope(std::move(what), captures);
  std::vector<Array> arguments;
  for (const Shape& shape : parameters) arguments.push_back(scope.parameter(shape));
  std::vector<Array> results = body(static_cast<const std::vector<Array>&>(arguments));
  return std::move(scope).finish(std::move(results));
}

/// Nodes that `results` need, inputs before uses, in the order of their recording; leaves included.
std::vector<std::shared_ptr<Node>> reachable(const std::vector<Array>& results);

/// Records the function's operations anew with `arguments` for its parameters.
std::vector<Array> inline_call(const Function& function, const std::vector<Array>& arguments);

/// While it lives, operations of this thread carry `name` in their path, as plans and messages show it.
class NameScope {
 public:
  explicit NameScope(std::string_view name);
  ~NameScope();
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;

  static const std::string& path();

 private:
  size_t length_;
};

}  // namespace alpa::frontend

namespace alpa {
using name_scope = frontend::NameScope;
}
