#include "alpa/frontend/ops/residuals.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "alpa/base/error.h"

namespace alpa::frontend {
namespace {

constexpr std::array<std::string_view, 5> kMoves = {"broadcast_in_dim", "reshape", "transpose", "astype", "iota"};

bool is_move(const Node& node) {
  if (std::find(kMoves.begin(), kMoves.end(), node.primitive->name) == kMoves.end()) return false;
  return node.inputs.empty() || tensor::byte_size(node.inputs[0].shape()) <= tensor::byte_size(node.shapes[0]);
}

bool is_leaf(const Node& node) { return node.primitive == nullptr || node.is_known(); }

}  // namespace

Residuals::Residuals(const LinearizedBody& body, std::vector<bool> at_hand, std::vector<bool> invariant)
    : at_hand_(std::move(at_hand)) {
  for (size_t k = 0; k < body.parameters.size(); ++k) {
    parameters_[key_of(body.parameters[k])] = k;
    varying_[body.parameters[k].node().get()] = !invariant[k];
  }
  spread(body.outputs);
}

void Residuals::spread(const std::vector<Array>& to) {
  for (const std::shared_ptr<Node>& node : reachable(to)) {
    if (varying_.count(node.get()) > 0) continue;
    varying_[node.get()] = std::any_of(node->inputs.begin(), node->inputs.end(),
                                       [&](const Array& input) { return varying_.at(input.node().get()); });
  }
}

Array Residuals::resolved(Array array) {
  while (!is_leaf(*array.node()) && array.node()->primitive->name == "alias") array = Array(array.node()->inputs[0]);
  return array;
}

Residuals::Way Residuals::way_of(const Array& array) const {
  const Key key = key_of(array);
  const auto parameter = parameters_.find(key);
  if (parameter != parameters_.end()) return at_hand_[parameter->second] ? Way::kParameter : Way::kKept;
  if (is_leaf(*array.node())) return Way::kLeaf;
  if (is_move(*array.node())) return Way::kAnew;
  const auto varying = varying_.find(array.node().get());
  return varying != varying_.end() && !varying->second ? Way::kHoisted : Way::kKept;
}

void Residuals::need(const Array& array) {
  const Array source = resolved(array);
  if (varying_.count(source.node().get()) == 0) spread({source});
  const Way way = way_of(source);
  if (way == Way::kAnew) {
    for (const Array& input : source.node()->inputs) need(input);
  } else if (way == Way::kKept || way == Way::kHoisted) {
    std::vector<Array>& list = way == Way::kKept ? kept_ : hoisted_;
    if ((way == Way::kKept ? kept_index_ : hoisted_index_).try_emplace(key_of(source), list.size()).second)
      list.push_back(source);
  }
}

bool Residuals::covers(const Array& array) const {
  const Array source = resolved(array);
  switch (way_of(source)) {
    case Way::kAnew:
      return std::all_of(source.node()->inputs.begin(), source.node()->inputs.end(),
                         [&](const Array& input) { return covers(input); });
    case Way::kKept: return kept_index_.count(key_of(source)) > 0;
    case Way::kHoisted: return hoisted_index_.count(key_of(source)) > 0;
    default: return true;
  }
}

Array Residuals::value(const Array& array, const Sources& sources) const {
  const Array source = resolved(array);
  const Key key = key_of(source);
  switch (way_of(source)) {
    case Way::kLeaf: return source;
    case Way::kParameter: return sources.parameter(parameters_.at(key));
    case Way::kKept: return sources.kept(kept_index_.at(key));
    case Way::kHoisted: return sources.hoisted(hoisted_index_.at(key));
    case Way::kAnew: break;
  }
  const Node& node = *source.node();
  std::vector<Array> inputs;
  for (const Array& input : node.inputs) inputs.push_back(value(input, sources));
  return emit(node.primitive, std::move(inputs), node.shapes, node.where,
              node.weak)[static_cast<size_t>(source.output())];
}

}  // namespace alpa::frontend
