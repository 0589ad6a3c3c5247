#include "alpa/frontend/trace.h"

#include <algorithm>
#include <unordered_set>

#include "alpa/base/error.h"
#include "alpa/frontend/host_value.h"

namespace alpa::frontend {
namespace {

// What a thread is tracing. Transforms nest and so must follow the thread: an argument for it would have to pass
// through the user's own functions.
struct ThreadState {
  TraceScope* innermost = nullptr;
  uint64_t sequence = 0;
  std::string scope_path;
};

ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

bool is_host_scalar(const Array& array) {
  const Node& node = *array.node();
  return node.primitive == nullptr && node.is_known() && array.rank() == 0 &&
         dynamic_cast<const HostValue*>(&node.value(0)) != nullptr;
}

}  // namespace

TraceScope::TraceScope(std::string what, Captures captures)
    : outer_(thread_state().innermost), trace_(std::make_shared<Trace>(Trace{std::move(what)})), captures_(captures) {
  thread_state().innermost = this;
}

TraceScope::TraceScope(std::string what, std::shared_ptr<const Trace> finished)
    : TraceScope(std::move(what), Captures::kAll) {
  finished_ = std::move(finished);
}

TraceScope::~TraceScope() {
  trace_->open = false;
  thread_state().innermost = outer_;
}

TraceScope* TraceScope::current() { return thread_state().innermost; }

uint64_t TraceScope::next_sequence() const { return ++thread_state().sequence; }

Array TraceScope::parameter(const Shape& shape, bool weak) {
  auto node = std::make_shared<Node>();
  node->shapes = {shape};
  node->weak = weak;
  node->trace = trace_;
  node->sequence = next_sequence();
  parameters_.emplace_back(std::move(node), 0);
  return parameters_.back();
}

bool TraceScope::is_own(const Array& array) const {
  const Trace* const home = array.node()->trace.get();
  if (home == trace_.get()) return true;
  return home == nullptr && (captures_ == Captures::kTraced || is_host_scalar(array));
}

bool TraceScope::reaches(const Trace* home) const {
  return home == trace_.get() || home == finished_.get() || (outer_ != nullptr && outer_->reaches(home));
}

Array TraceScope::import(const Array& array, const Where& where) {
  if (is_own(array)) return array;
  const Trace* const home = array.node()->trace.get();
  require<InvalidArgumentError>(
      home == nullptr || reaches(home), "trace",
      "an array traced by {} is used outside of it, at {}: return it from the function instead",
      home == nullptr ? "" : home->what, to_string(where));
  const auto [entry, fresh] = index_.try_emplace({array.node().get(), array.output()}, captured_.size());
  if (fresh) {
    const bool here = outer_ == nullptr || (home != nullptr && home == finished_.get());
    captured_.push_back(here ? array : outer_->import(array, where));
    auto node = std::make_shared<Node>();
    node->shapes = {array.shape()};
    node->weak = array.is_weak();
    node->trace = trace_;
    node->sequence = next_sequence();
    stand_ins_.emplace_back(std::move(node), 0);
  }
  return stand_ins_[entry->second];
}

Closure TraceScope::finish(std::vector<Array> results) && {
  auto function = std::make_shared<Function>();
  for (Array& result : results) {
    require<InvalidArgumentError>(result.defined(), "trace", "{} returns an Array that was never assigned",
                                  trace_->what);
    function->results.push_back(import(result, Where::current()));
  }
  function->explicit_count = parameters_.size();
  function->parameters = std::move(parameters_);
  function->parameters.insert(function->parameters.end(), stand_ins_.begin(), stand_ins_.end());
  return {std::move(function), std::move(captured_)};
}

std::vector<std::shared_ptr<Node>> reachable(const std::vector<Array>& results) {
  std::vector<std::shared_ptr<Node>> found;
  std::unordered_set<const Node*> seen;
  for (const Array& result : results) {
    if (result.defined() && seen.insert(result.node().get()).second) found.push_back(result.node());
  }
  for (size_t next = 0; next < found.size(); ++next) {
    const std::shared_ptr<Node> node = found[next];
    if (node->is_known()) continue;  // known: what made it no longer matters
    for (const Array& input : node->inputs) {
      if (seen.insert(input.node().get()).second) found.push_back(input.node());
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a->sequence < b->sequence; });
  return found;
}

std::vector<Array> inline_call(const Function& function, const std::vector<Array>& arguments) {
  ALPA_CHECK(arguments.size() == function.parameters.size());
  std::map<const Node*, std::vector<Array>> made;
  for (size_t k = 0; k < arguments.size(); ++k) made[function.parameters[k].node().get()] = {arguments[k]};
  const auto replaced = [&](const Array& array) {
    const auto entry = made.find(array.node().get());
    return entry == made.end() ? array : entry->second[static_cast<size_t>(array.output())];
  };
  for (const std::shared_ptr<Node>& node : reachable(function.results)) {
    if (node->primitive == nullptr || node->is_known() || made.count(node.get()) > 0) continue;
    std::vector<Array> inputs;
    for (const Array& input : node->inputs) inputs.push_back(replaced(input));
    std::vector<Array>& outputs = made[node.get()];
    outputs = emit(node->primitive, std::move(inputs), node->shapes, node->where, node->weak);
    if (!node->scope.empty()) outputs[0].node()->scope = node->scope;  // where the user wrote it
  }
  std::vector<Array> results;
  for (const Array& result : function.results) results.push_back(replaced(result));
  return results;
}

NameScope::NameScope(std::string_view name) : length_(thread_state().scope_path.size()) {
  std::string& path = thread_state().scope_path;
  if (!path.empty()) path += '/';
  path += name;
}

NameScope::~NameScope() { thread_state().scope_path.resize(length_); }

const std::string& NameScope::path() { return thread_state().scope_path; }

std::vector<Array> emit(std::shared_ptr<const Primitive> primitive, std::vector<Array> inputs,
                        std::vector<Shape> shapes, Where where, bool weak) {
  for (const Shape& shape : shapes) {
    const bool negative = std::any_of(shape.dims.begin(), shape.dims.end(), [](int64_t size) { return size < 0; });
    require<InvalidArgumentError>(!negative, primitive->name, "{} at {} has a negative size", tensor::to_string(shape),
                                  to_string(where));
    require<InvalidArgumentError>(tensor::is_countable(shape), primitive->name,
                                  "{} at {} is too large: its bytes do not fit 64 bits", tensor::to_string(shape),
                                  to_string(where));
  }
  auto node = std::make_shared<Node>();
  TraceScope* const scope = TraceScope::current();
  uint64_t latest = 0;
  for (Array& input : inputs) {
    require<InvalidArgumentError>(input.defined(), primitive->name,
                                  "an operand at {} is an Array that was never assigned", to_string(where));
    if (scope != nullptr) {
      input = scope->import(input, where);
    } else {
      const auto& home = input.node()->trace;
      require<InvalidArgumentError>(
          home == nullptr, "trace",
          "{}: an array traced by {} is used outside of it, at {}: return it from the function instead",
          primitive->name, home == nullptr ? "" : home->what, to_string(where));
    }
    latest = std::max(latest, input.node()->sequence);
  }
  // Arrays may come from another thread, whose numbers run ahead of ours.
  uint64_t& counter = thread_state().sequence;
  counter = std::max(counter, latest) + 1;
  node->sequence = counter;
  node->primitive = std::move(primitive);
  node->inputs = std::move(inputs);
  node->shapes = std::move(shapes);
  node->weak = weak;
  if (scope != nullptr) node->trace = scope->trace();
  node->where = where;
  node->scope = NameScope::path();
  std::vector<Array> outputs;
  for (size_t k = 0; k < node->shapes.size(); ++k) outputs.emplace_back(node, static_cast<int>(k));
  return outputs;
}

}  // namespace alpa::frontend
