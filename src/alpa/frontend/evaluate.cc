#include "alpa/frontend/evaluate.h"

#include <mutex>
#include <unordered_set>

#include "alpa/base/error.h"
#include "alpa/frontend/lower.h"

namespace alpa::frontend {
namespace {

// The part of the initialized cluster that arrays know of.
struct Slot {
  std::mutex mutex;
  std::shared_ptr<Evaluator> evaluator;
};

Slot& slot() {
  static Slot instance;
  return instance;
}

// The known values that the arrays need become parameters, so that the program stays the same when only they change.
Function as_function(const std::vector<Array>& wanted) {
  Function function;
  for (const std::shared_ptr<Node>& node : reachable(wanted)) {
    if (!node->is_known() || is_number(*node)) continue;
    for (size_t k = 0; k < node->shapes.size(); ++k) {
      function.parameters.emplace_back(node, static_cast<int>(k));
    }
  }
  function.results = wanted;
  function.explicit_count = function.parameters.size();
  return function;
}

}  // namespace

void set_evaluator(std::shared_ptr<Evaluator> evaluator) {
  const std::lock_guard lock(slot().mutex);
  slot().evaluator = std::move(evaluator);
}

void evaluate(const std::vector<Array>& arrays) {
  std::vector<Array> wanted;
  for (const Array& array : arrays) {
    require<InvalidArgumentError>(array.defined(), "array", "an Array that was never assigned has no value");
    require<InvalidArgumentError>(
        !array.is_traced(), "array",
        "the value of {} is not known while {} traces the function: return the array and read "
        "it outside",
        tensor::to_string(array.shape()), array.is_traced() ? array.node()->trace->what : "");
    if (array.recorded() != nullptr && !array.recorded()->is_known()) wanted.push_back(array);
  }
  if (wanted.empty()) return;
  std::shared_ptr<Evaluator> evaluator;
  {
    const std::lock_guard lock(slot().mutex);
    evaluator = slot().evaluator;
  }
  require<InvalidArgumentError>(evaluator != nullptr, "array", "no cluster to compute {} on: call alpa::init first",
                                tensor::to_string(wanted[0].shape()));
  // All outputs of a node at once, so that its values are either known or not.
  std::vector<Array> outputs;
  std::vector<std::shared_ptr<Node>> nodes;
  std::unordered_set<const Node*> seen;
  for (const Array& array : wanted) {
    if (!seen.insert(array.node().get()).second) continue;
    nodes.push_back(array.node());
    for (size_t k = 0; k < array.node()->shapes.size(); ++k) outputs.emplace_back(array.node(), static_cast<int>(k));
  }
  const Function function = as_function(outputs);
  std::vector<std::shared_ptr<tensor::PlacedValue>> inputs;
  for (const Array& parameter : function.parameters) {
    inputs.push_back(parameter.value());
    require<InvalidArgumentError>(
        !inputs.back()->is_deleted(), "array",
        "{} was donated or its cluster shut down; what depends on it cannot be computed any more",
        tensor::to_string(parameter.shape()));
  }
  const auto values = evaluator->run(lower(function, "eager", {}), inputs);
  size_t next = 0;
  for (const std::shared_ptr<Node>& node : nodes) {
    node->values.assign(values.begin() + static_cast<std::ptrdiff_t>(next),
                        values.begin() + static_cast<std::ptrdiff_t>(next + node->shapes.size()));
    next += node->shapes.size();
    node->inputs.clear();
    node->primitive = nullptr;
  }
}

std::shared_ptr<tensor::PlacedValue> value_of(const Array& array) {
  evaluate({array});
  return array.value();
}

}  // namespace alpa::frontend
