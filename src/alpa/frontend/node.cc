#include "alpa/frontend/node.h"

#include <fmt/format.h>

#include <string_view>

#include "alpa/frontend/host_value.h"

namespace alpa::frontend {

Node::~Node() {
  std::vector<Array> dying = std::move(inputs);
  while (!dying.empty()) {
    const Array last = std::move(dying.back());
    dying.pop_back();
    if (last.recorded() == nullptr || last.recorded().use_count() > 1) continue;
    for (Array& input : last.recorded()->inputs) dying.push_back(std::move(input));
    last.recorded()->inputs.clear();
  }
}

namespace {

// An integer that stands only beside arrays whose element type holds it.
class LargeNumber : public HostValue {
 public:
  LargeNumber(tensor::Literal nearest, long double number) : HostValue(std::move(nearest)), number_(number) {}
  tensor::Literal to_host() const override {
    raise<InvalidArgumentError>(
        "array", "{:.0f} is out of range for s32, which a C++ integer alone is: use full or astype", number_);
  }

 private:
  long double number_;
};

}  // namespace

std::shared_ptr<Node> number_node(long double number, DType dtype) {
  tensor::Literal literal(Shape(dtype, {}));
  literal.set(0, static_cast<double>(number));
  auto node = std::make_shared<Node>();
  node->shapes = {literal.shape()};
  if (dtype == DType::kS32 && literal.at(0) != number)
    node->values = {std::make_shared<LargeNumber>(std::move(literal), number)};
  else
    node->values = {std::make_shared<HostValue>(std::move(literal))};
  node->weak = true;
  node->number = number;
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
