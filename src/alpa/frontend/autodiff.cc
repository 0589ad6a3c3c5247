#include "alpa/frontend/autodiff.h"

#include <algorithm>
#include <map>
#include <set>

#include "alpa/base/error.h"
#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/trace.h"

namespace alpa::frontend {
namespace {

using Key = std::pair<const Node*, int>;

Key key_of(const Array& array) { return {array.node().get(), array.output()}; }

/// The operations between some inputs and some outputs, and what has taken the place of arrays that were recorded anew.
class Path {
 public:
  Path(const std::vector<Array>& outputs, const std::vector<Array>& inputs) {
    std::set<const Node*> active;
    for (const Array& input : inputs) active.insert(input.node().get());
    for (const std::shared_ptr<Node>& node : reachable(outputs)) {
      if (node->primitive == nullptr || active.count(node.get()) > 0) continue;
      const bool depends = std::any_of(node->inputs.begin(), node->inputs.end(), [&](const Array& input) {
        return active.count(input.node().get()) > 0 && is_differentiable(input.dtype());
      });
      const bool smooth = std::any_of(node->shapes.begin(), node->shapes.end(),
                                      [](const Shape& shape) { return is_differentiable(shape.dtype); });
      if (depends && smooth && active.insert(node.get()).second) nodes_.push_back(node);
    }
    active_ = std::move(active);
  }

  const std::vector<std::shared_ptr<Node>>& nodes() const { return nodes_; }

  Array replaced(const Array& array) const {
    const auto entry = replacements_.find(array.node().get());
    return entry == replacements_.end() ? array : entry->second[static_cast<size_t>(array.output())];
  }
  std::vector<Array> replaced(const std::vector<Array>& arrays) const {
    std::vector<Array> result;
    for (const Array& array : arrays) result.push_back(replaced(array));
    return result;
  }
  void replace(const Node& node, std::vector<Array> outputs) { replacements_[&node] = std::move(outputs); }

  /// Which inputs of a node lie on the path.
  std::vector<bool> wanted(const Node& node) const {
    std::vector<bool> result;
    for (const Array& input : node.inputs)
      result.push_back(active_.count(input.node().get()) > 0 && is_differentiable(input.dtype()));
    return result;
  }

  /// The node's outputs, from its replaced inputs.
  std::vector<Array> outputs(const std::shared_ptr<Node>& node, const std::vector<Array>& inputs) {
    bool same = true;
    for (size_t k = 0; k < inputs.size(); ++k) same = same && key_of(inputs[k]) == key_of(node->inputs[k]);
    std::vector<Array> result;
    for (size_t k = 0; k < node->shapes.size(); ++k) result.emplace_back(node, static_cast<int>(k));
    if (same) return result;
    result = emit(node->primitive, inputs, node->shapes, node->where, node->weak);
    replace(*node, result);
    return result;
  }

 private:
  std::vector<std::shared_ptr<Node>> nodes_;
  std::set<const Node*> active_;
  std::map<const Node*, std::vector<Array>> replacements_;
};

/// One operation on the way back.
struct Step {
  std::shared_ptr<const Primitive> primitive;
  std::vector<Array> inputs;
  std::vector<Array> outputs;
  std::vector<bool> wanted;
  std::function<std::vector<Array>(const std::vector<Array>&)> pullback;  ///< Null: the primitive's vjp.
  Where where;
};

std::vector<Array> pull_back(const Step& step, const std::vector<Array>& cotangents) {
  if (step.pullback) return step.pullback(cotangents);
  const Primitive& primitive = *step.primitive;
  require<UnsupportedError>(primitive.vjp != nullptr, "grad", "{} at {} has no derivative in reverse mode{}{}",
                            primitive.name, to_string(step.where), primitive.not_differentiable.empty() ? "" : ": ",
                            primitive.not_differentiable);
  return primitive.vjp({step.inputs, step.outputs, cotangents, step.wanted});
}

std::vector<Array> walk_back(const std::vector<Step>& steps, const std::vector<Array>& outputs,
                             const std::vector<Array>& inputs, const std::vector<Array>& cotangents) {
  std::map<Key, Array> gathered;
  const auto take = [&](const Array& array) {
    const auto entry = gathered.find(key_of(array));
    return entry == gathered.end() ? Array() : entry->second;
  };
  const auto give = [&](const Array& array, const Array& cotangent) {
    if (!cotangent.defined()) return;
    Array& sum = gathered[key_of(array)];
    sum = add_tangents(sum, cotangent);
  };
  ALPA_CHECK(cotangents.size() == outputs.size());
  for (size_t k = 0; k < outputs.size(); ++k) give(outputs[k], cotangents[k]);
  for (size_t next = steps.size(); next-- > 0;) {
    const Step& step = steps[next];
    std::vector<Array> of_outputs;
    for (const Array& output : step.outputs) of_outputs.push_back(take(output));
    if (std::none_of(of_outputs.begin(), of_outputs.end(), [](const Array& a) { return a.defined(); })) continue;
    const std::vector<Array> of_inputs = pull_back(step, of_outputs);
    ALPA_CHECK(of_inputs.size() == step.inputs.size());
    for (size_t k = 0; k < of_inputs.size(); ++k) {
      if (step.wanted[k]) give(step.inputs[k], of_inputs[k]);
    }
  }
  std::vector<Array> result;
  for (const Array& input : inputs) result.push_back(take(input));
  return result;
}

// Forward mode of one operation by transposing its vjp twice: the vjp is linear in the cotangents, so pulling the
// tangents back through it gives the tangents of the outputs.
std::vector<Array> transposed_vjp(const Step& step, const std::vector<Array>& tangents) {
  std::vector<Array> cotangents;
  for (const Array& output : step.outputs) {
    cotangents.push_back(is_differentiable(output.dtype()) ? alias(instantiate({}, output.shape())) : Array());
  }
  const std::vector<Array> of_inputs = pull_back(step, cotangents);
  std::vector<Array> results;
  std::vector<Array> seeds;
  for (size_t k = 0; k < of_inputs.size(); ++k) {
    if (!of_inputs[k].defined() || !tangents[k].defined()) continue;
    results.push_back(of_inputs[k]);
    seeds.push_back(tangents[k]);
  }
  std::vector<Array> variables;
  for (const Array& cotangent : cotangents) {
    if (cotangent.defined()) variables.push_back(cotangent);
  }
  const std::vector<Array> found = linearize(results, variables).pullback(seeds);
  std::vector<Array> of_outputs;
  size_t next = 0;
  for (const Array& cotangent : cotangents) of_outputs.push_back(cotangent.defined() ? found[next++] : Array());
  return of_outputs;
}

Forward step_forward(Path& path, const std::shared_ptr<Node>& node, const std::vector<Array>& inputs,
                     const std::vector<Array>& tangents) {
  const Primitive& primitive = *node->primitive;
  if (primitive.push) {
    Forward result = primitive.push(*node, inputs, tangents);
    path.replace(*node, result.outputs);
    return result;
  }
  const std::vector<bool> wanted = path.wanted(*node);
  if (primitive.linearize) {
    Linearized linear = primitive.linearize(*node, inputs, wanted);
    path.replace(*node, linear.outputs);
    const Step step{node->primitive, inputs, linear.outputs, wanted, linear.pullback, node->where};
    return {linear.outputs, transposed_vjp(step, tangents)};
  }
  const std::vector<Array> outputs = path.outputs(node, inputs);
  if (primitive.jvp) return {outputs, primitive.jvp({inputs, outputs, tangents})};
  const Step step{node->primitive, inputs, outputs, wanted, nullptr, node->where};
  return {outputs, transposed_vjp(step, tangents)};
}

}  // namespace

bool is_differentiable(DType dtype) { return tensor::is_floating(dtype) || tensor::is_complex(dtype); }

Array add_tangents(const Array& a, const Array& b) {
  if (!a.defined()) return b;
  if (!b.defined()) return a;
  return add(a, b);
}

Array instantiate(const Array& tangent, const Shape& shape) {
  return tangent.defined() ? tangent : zeros(shape.dims, shape.dtype);
}

Linearized linearize(const std::vector<Array>& outputs, const std::vector<Array>& inputs) {
  Path path(outputs, inputs);
  auto steps = std::make_shared<std::vector<Step>>();
  for (const std::shared_ptr<Node>& node : path.nodes()) {
    Step step{node->primitive, path.replaced(node->inputs), {}, path.wanted(*node), nullptr, node->where};
    if (node->primitive->linearize) {
      Linearized linear = node->primitive->linearize(*node, step.inputs, step.wanted);
      path.replace(*node, linear.outputs);
      step.outputs = std::move(linear.outputs);
      step.pullback = std::move(linear.pullback);
    } else {
      step.outputs = path.outputs(node, step.inputs);
    }
    steps->push_back(std::move(step));
  }
  const std::vector<Array> made = path.replaced(outputs);
  return {made, [steps, made, inputs](const std::vector<Array>& cotangents) {
            return walk_back(*steps, made, inputs, cotangents);
          }};
}

Forward push_forward(const std::vector<Array>& outputs, const std::vector<Array>& inputs,
                     const std::vector<Array>& tangents) {
  Path path(outputs, inputs);
  std::map<Key, Array> known;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (tangents[k].defined()) known[key_of(inputs[k])] = tangents[k];
  }
  const auto take = [&](const Array& array) {
    const auto entry = known.find(key_of(array));
    return entry == known.end() ? Array() : entry->second;
  };
  for (const std::shared_ptr<Node>& node : path.nodes()) {
    const std::vector<Array> node_inputs = path.replaced(node->inputs);
    std::vector<Array> node_tangents;
    for (const Array& input : node_inputs) node_tangents.push_back(take(input));
    if (std::none_of(node_tangents.begin(), node_tangents.end(), [](const Array& a) { return a.defined(); })) {
      path.outputs(node, node_inputs);
      continue;
    }
    const Forward forward = step_forward(path, node, node_inputs, node_tangents);
    for (size_t k = 0; k < forward.tangents.size(); ++k) {
      if (forward.tangents[k].defined()) known[key_of(forward.outputs[k])] = forward.tangents[k];
    }
  }
  Forward result{path.replaced(outputs), {}};
  for (const Array& output : result.outputs) result.tangents.push_back(take(output));
  return result;
}

}  // namespace alpa::frontend
