#include "alpa/frontend/ops/while.h"

#include "alpa/base/error.h"
#include "alpa/frontend/autodiff.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/ops/scan.h"

namespace alpa::frontend {
namespace {

using Ids = std::vector<hlo::InstructionId>;

/// Parameters of both: carry, constants. Results of the body: carry.
struct WhileLoop {
  std::shared_ptr<const Function> condition, body;
  size_t num_carry = 0;
};

struct Needed {
  std::vector<bool> results;
  std::vector<bool> inputs;
};

Needed needed_of(const WhileLoop& loop, std::vector<bool> used) {
  const std::vector<bool> of_condition = needed_parameters(*loop.condition, {true});
  for (size_t k = 0; k < loop.num_carry; ++k) used[k] = used[k] || of_condition[k];
  Needed needed{with_needed_carry(*loop.body, loop.num_carry, std::move(used)), {}};
  needed.inputs = needed_parameters(*loop.body, needed.results);
  for (size_t k = 0; k < needed.inputs.size(); ++k)
    needed.inputs[k] = k < loop.num_carry ? needed.results[k] : needed.inputs[k] || of_condition[k];
  return needed;
}

Ids elements_of(hlo::ComputationBuilder& builder, const Shape& tuple, const std::vector<bool>& needed) {
  const hlo::InstructionId parameter = builder.parameter(tuple);
  Ids arguments(needed.size(), -1);
  for (size_t k = 0, at = 0; k < needed.size(); ++k) {
    if (needed[k]) arguments[k] = builder.get_tuple_element(parameter, static_cast<int64_t>(at++));
  }
  return arguments;
}

Ids lower_while(const WhileLoop& loop, Lowering& lowering, const Node& node, const Ids& operands) {
  const Needed needed = needed_of(loop, lowering.used());
  hlo::ComputationBuilder& builder = lowering.builder();
  const hlo::InstructionId init = builder.tuple(chosen(operands, needed.inputs));
  const Shape shape = builder.shape(init);

  Lowering condition = lowering.nested("condition");
  const Ids of_condition = elements_of(condition.builder(), shape, needed.inputs);
  const Ids holds = condition.run(loop.condition->parameters, of_condition, loop.condition->results);
  const hlo::ComputationId condition_id = lowering.add(std::move(condition).build(holds[0]));

  Lowering body = lowering.nested("body");
  const Ids of_body = elements_of(body.builder(), shape, needed.inputs);
  Ids results = body.run(loop.body->parameters, of_body, chosen(loop.body->results, needed.results));
  for (size_t k = loop.num_carry; k < of_body.size(); ++k) {
    if (needed.inputs[k]) results.push_back(of_body[k]);
  }
  const hlo::InstructionId root = body.builder().tuple(results);
  const hlo::ComputationId body_id = lowering.add(std::move(body).build(root));

  const hlo::InstructionId result = builder.calling(hlo::Opcode::kWhile, shape, {init}, {body_id, condition_id});
  Ids outputs(node.shapes.size(), -1);
  for (size_t k = 0, at = 0; k < outputs.size(); ++k) {
    if (needed.results[k]) outputs[k] = builder.get_tuple_element(result, static_cast<int64_t>(at++));
  }
  return outputs;
}

Forward push_while(const WhileLoop& loop, const Node& node, const std::vector<Array>& inputs,
                   const std::vector<Array>& tangents) {
  std::vector<bool> active;
  for (const Array& tangent : tangents) active.push_back(tangent.defined());
  active = with_active_carry(*loop.body, loop.num_carry, active);
  std::vector<Array> init = part(inputs, 0, loop.num_carry);
  for (size_t k = 0; k < loop.num_carry; ++k) {
    if (active[k]) init.push_back(instantiate(tangents[k], inputs[k].shape()));
  }
  const auto constants = part(inputs, loop.num_carry, inputs.size() - loop.num_carry);
  const Closure condition = trace_body("a condition", shapes_of(init), [&](const std::vector<Array>& both) {
    return inline_call(*loop.condition, joined(part(both, 0, loop.num_carry), constants));
  });
  const Closure body = trace_body("a loop with tangents", shapes_of(init), [&](const std::vector<Array>& both) {
    std::vector<Array> points = joined(part(both, 0, loop.num_carry), constants), variables, changes;
    size_t next = loop.num_carry;
    for (size_t k = 0; k < points.size(); ++k) {
      if (!active[k]) continue;
      points[k] = alias(points[k]);
      variables.push_back(points[k]);
      changes.push_back(k < loop.num_carry ? both[next++] : tangents[k]);
    }
    const Forward forward = push_forward(inline_call(*loop.body, points), variables, changes);
    std::vector<Array> results = forward.outputs;
    for (size_t k = 0; k < loop.num_carry; ++k) {
      if (active[k]) results.push_back(instantiate(forward.tangents[k], forward.outputs[k].shape()));
    }
    return results;
  });
  const std::vector<Array> outputs = emit_while(condition, body, init, node.where);
  Forward forward{part(outputs, 0, loop.num_carry), std::vector<Array>(loop.num_carry)};
  size_t next = loop.num_carry;
  for (size_t k = 0; k < loop.num_carry; ++k) {
    if (active[k]) forward.tangents[k] = outputs[next++];
  }
  return forward;
}

}  // namespace

std::vector<Array> emit_while(const Closure& condition, const Closure& body, const std::vector<Array>& init,
                              const Where& where) {
  const std::vector<Array> captured = captured_by({condition, body});
  const WhileLoop loop{widened(condition, captured), widened(body, captured), init.size()};
  Primitive primitive;
  primitive.name = "while_loop";
  primitive.lower = [loop](Lowering& lowering, const Node& node, const Ids& operands) {
    return lower_while(loop, lowering, node, operands);
  };
  primitive.push = [loop](const Node& node, const std::vector<Array>& of, const std::vector<Array>& tangents) {
    return push_while(loop, node, of, tangents);
  };
  primitive.needs = [loop](const Node&, const std::vector<bool>& used) { return needed_of(loop, used).inputs; };
  primitive.not_differentiable =
      "how often it runs is not known, so there is no place for what the backward pass needs; use scan, or fori_loop "
      "with bounds that are C++ integers";
  return emit(std::make_shared<const Primitive>(std::move(primitive)), joined(init, captured), shapes_of(init), where);
}

}  // namespace alpa::frontend
