#include "alpa/frontend/ops/called.h"

#include "alpa/frontend/lower.h"

namespace alpa::frontend {
namespace {

using Ids = std::vector<hlo::InstructionId>;

Ids lower_call(const Function& function, Lowering& lowering, const Node& node, const Ids& operands) {
  const std::vector<bool> used = lowering.used();
  const std::vector<bool> needed = needed_parameters(function, used);
  const Function lean{chosen(function.parameters, needed), chosen(function.results, used), 0};
  const hlo::ComputationId called = lowering.function(lean, node.primitive->name, false);
  hlo::ComputationBuilder& builder = lowering.builder();
  const bool one = lean.results.size() == 1;
  const Shape shape = one ? lean.results[0].shape() : Shape::tuple(chosen(node.shapes, used));
  const hlo::InstructionId call = builder.calling(hlo::Opcode::kCall, shape, chosen(operands, needed), {called});
  Ids outputs(node.shapes.size(), -1);
  for (size_t k = 0, at = 0; k < outputs.size(); ++k) {
    if (used[k]) outputs[k] = one ? call : builder.get_tuple_element(call, static_cast<int64_t>(at++));
  }
  return outputs;
}

}  // namespace

void lower_as_call(Primitive& primitive, const std::shared_ptr<const Function>& function) {
  primitive.lower = [function](Lowering& lowering, const Node& node, const Ids& operands) {
    return lower_call(*function, lowering, node, operands);
  };
  primitive.needs = [function](const Node&, const std::vector<bool>& used) {
    return needed_parameters(*function, used);
  };
}

}  // namespace alpa::frontend
