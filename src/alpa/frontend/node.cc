#include "alpa/frontend/node.h"

#include <fmt/format.h>

#include <string_view>

namespace alpa::frontend {

Node::~Node() {
  std::vector<Array> dying = std::move(inputs);
  while (!dying.empty()) {
    const Array last = std::move(dying.back());
    dying.pop_back();
    if (!last.defined() || last.node().use_count() > 1) continue;
    for (Array& input : last.node()->inputs) dying.push_back(std::move(input));
    last.node()->inputs.clear();
  }
}

std::shared_ptr<Node> value_node(std::shared_ptr<tensor::PlacedValue> value, bool weak) {
  auto node = std::make_shared<Node>();
  node->shapes = {value->shape()};
  node->values = {std::move(value)};
  node->weak = weak;
  return node;
}

Array emit_one(Primitive primitive, std::vector<Array> inputs, Shape shape, Where where, bool weak) {
  return emit_one(std::make_shared<const Primitive>(std::move(primitive)), std::move(inputs), std::move(shape), where,
                  weak);
}

Array emit_one(const std::shared_ptr<const Primitive>& primitive, std::vector<Array> inputs, Shape shape, Where where,
               bool weak) {
  return emit(primitive, std::move(inputs), {std::move(shape)}, where, weak)[0];
}

Array alias(const Array& array) {
  static const auto primitive = std::make_shared<const Primitive>(
      Primitive{.name = "alias",
                .lower = [](Lowering&, const Node&, const std::vector<int32_t>& operands) { return operands; },
                .vjp = [](const VjpArguments& arguments) { return arguments.cotangents; }});
  return emit_one(primitive, {array}, array.shape(), Where::current(), array.is_weak());
}

std::string to_string(const Where& where) {
  const std::string_view file = where.file_name();
  const size_t slash = file.rfind('/');
  return fmt::format("{}:{}", slash == std::string_view::npos ? file : file.substr(slash + 1), where.line());
}

}  // namespace alpa::frontend
