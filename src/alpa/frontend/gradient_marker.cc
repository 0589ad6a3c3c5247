#include "alpa/frontend/gradient_marker.h"

#include <fmt/format.h>

#include "alpa/frontend/lower.h"
#include "alpa/frontend/node.h"
#include "alpa/hlo/markers.h"

namespace alpa::frontend {
namespace {

// Over what is used of the arrays.
std::vector<int32_t> lower_marker(Lowering& lowering, const Node& node, const std::vector<int32_t>& operands,
                                  size_t num_values) {
  const std::vector<bool> used = lowering.used();
  std::vector<int32_t> marked;
  std::vector<Shape> shapes;
  size_t num_marked_values = 0;
  for (size_t k = 0; k < operands.size(); ++k) {
    if (!used[k]) continue;
    marked.push_back(operands[k]);
    shapes.push_back(node.shapes[k]);
    if (k < num_values) ++num_marked_values;
  }
  hlo::ComputationBuilder& builder = lowering.builder();
  const auto marker = builder.custom_call(Shape::tuple(shapes), marked, hlo::kGradientMarker,
                                          fmt::format("{{kind = \"grad\", num_values = {} : i64}}", num_marked_values));
  std::vector<int32_t> results(operands.size(), marker);  // ids of what is not used are never asked for
  int64_t next = 0;
  for (size_t k = 0; k < operands.size(); ++k) {
    if (used[k]) results[k] = builder.get_tuple_element(marker, next++);
  }
  return results;
}

}  // namespace

std::vector<Array> mark_gradients(const std::vector<Array>& arrays, size_t num_values) {
  std::vector<Shape> shapes;
  for (const Array& array : arrays) shapes.push_back(array.shape());
  Primitive primitive;
  primitive.name = "gradient_marker";
  primitive.lower = [num_values](Lowering& lowering, const Node& node, const std::vector<int32_t>& operands) {
    return lower_marker(lowering, node, operands, num_values);
  };
  primitive.needs = [](const Node&, const std::vector<bool>& used) { return used; };
  primitive.vjp = [](const VjpArguments& arguments) { return arguments.cotangents; };
  primitive.jvp = [](const JvpArguments& arguments) { return arguments.tangents; };
  return emit(std::make_shared<const Primitive>(std::move(primitive)), arrays, shapes, Where::current());
}

}  // namespace alpa::frontend
