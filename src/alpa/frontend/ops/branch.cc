#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/frontend/autodiff.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/ops/residuals.h"
#include "alpa/frontend/ops/while.h"

namespace alpa::frontend {
namespace {

using Ids = std::vector<hlo::InstructionId>;
using Functions = std::vector<std::shared_ptr<const Function>>;

// Every branch has the same parameters: what any of them captures.
std::vector<bool> needed_of(const Functions& branches, const std::vector<bool>& used) {
  std::vector<bool> needed(branches[0]->parameters.size(), false);
  for (const auto& branch : branches) {
    const std::vector<bool> own = needed_parameters(*branch, used);
    for (size_t k = 0; k < needed.size(); ++k) needed[k] = needed[k] || own[k];
  }
  return needed;
}

Ids lower_branches(const Functions& branches, Lowering& lowering, const Node& node, const Ids& operands) {
  const std::vector<bool> used = lowering.used();
  const std::vector<bool> needed = needed_of(branches, used);
  hlo::ComputationBuilder& builder = lowering.builder();
  const Ids captured(operands.begin() + 1, operands.end());
  const hlo::InstructionId tuple = builder.tuple(chosen(captured, needed));
  Ids arguments = {operands[0]};
  std::vector<hlo::ComputationId> called;
  std::vector<Shape> shapes = chosen(node.shapes, used);
  for (const auto& branch : branches) {
    const Function lean{chosen(branch->parameters, needed), chosen(branch->results, used), 0};
    called.push_back(lowering.function(lean, "branch", true));
    arguments.push_back(tuple);
  }
  const hlo::InstructionId result =
      builder.calling(hlo::Opcode::kConditional, Shape::tuple(std::move(shapes)), arguments, called);
  Ids outputs(node.shapes.size(), -1);
  for (size_t k = 0, at = 0; k < outputs.size(); ++k) {
    if (used[k]) outputs[k] = builder.get_tuple_element(result, static_cast<int64_t>(at++));
  }
  return outputs;
}

// One branch's part in the derivative.
struct KeptBranch {
  LinearizedBody body;
  Residuals residuals;
  std::vector<size_t> slots;  // outputs of the forward conditional that hold its kept residuals
  std::vector<Array> hoisted;
};

struct Kept {
  std::vector<KeptBranch> branches;
  std::vector<Array> inputs;  // of the forward conditional: index, captured
  std::vector<Array> outputs;
  std::vector<bool> wanted;  // by captured array
  std::vector<bool> varied;  // outputs that depend on wanted inputs in any branch
  Where where;

  std::vector<Array> captured() const { return part(inputs, 1, inputs.size() - 1); }
};

std::vector<bool> either(std::vector<bool> a, const std::vector<bool>& b) {
  for (size_t k = 0; k < a.size(); ++k) a[k] = a[k] || b[k];
  return a;
}

std::vector<bool> dependent_in_any(const Functions& branches, const std::vector<bool>& active) {
  std::vector<bool> result(branches[0]->results.size(), false);
  for (const auto& branch : branches) result = either(std::move(result), dependent_results(*branch, active));
  return result;
}

// Residuals of different branches share outputs of one shape.
std::vector<Shape> assign_slots(std::vector<KeptBranch>& branches, size_t first) {
  std::vector<Shape> slots;
  for (KeptBranch& branch : branches) {
    std::vector<bool> taken(slots.size(), false);
    for (const Array& residual : branch.residuals.kept()) {
      size_t slot = 0;
      while (slot < slots.size() && (taken[slot] || slots[slot] != residual.shape())) ++slot;
      if (slot == slots.size()) {
        slots.push_back(residual.shape());
        taken.push_back(false);
      }
      taken[slot] = true;
      branch.slots.push_back(first + slot);
    }
  }
  return slots;
}

void run_forward(Kept& kept, size_t num_outputs) {
  const std::vector<Shape> slots = assign_slots(kept.branches, num_outputs);
  std::vector<Closure> forward;
  for (KeptBranch& branch : kept.branches) {
    const std::vector<Array>& parameters = branch.body.parameters;
    const Function hoisted{parameters, branch.residuals.hoisted(), parameters.size()};
    branch.hoisted = inline_call(hoisted, kept.captured());
    forward.push_back(trace_body("a branch", {}, [&](const std::vector<Array>&) {
      const Function function{parameters, joined(branch.body.outputs, branch.residuals.kept()), parameters.size()};
      const std::vector<Array> all = inline_call(function, kept.captured());
      std::vector<Array> results = part(all, 0, num_outputs);
      results.resize(num_outputs + slots.size());
      for (size_t k = 0; k < branch.slots.size(); ++k) results[branch.slots[k]] = all[num_outputs + k];
      for (size_t k = 0; k < slots.size(); ++k)
        results[num_outputs + k] = instantiate(results[num_outputs + k], slots[k]);
      return results;
    }));
  }
  kept.outputs = emit_branches(kept.inputs[0], forward, kept.where);
}

std::vector<Array> run_backward(const Kept& kept, const std::vector<Array>& cotangents) {
  std::vector<bool> mask;
  for (size_t k = 0; k < cotangents.size(); ++k) mask.push_back(cotangents[k].defined() && kept.varied[k]);
  std::vector<PulledBack> pulled;
  std::vector<bool> given(kept.wanted.size(), false);
  bool covered = true;
  for (const KeptBranch& branch : kept.branches) {
    pulled.push_back(pull_back_body(branch.body, mask));
    given = either(std::move(given), pulled.back().given);
    for (const Array& residual : pulled.back().residuals) covered = covered && branch.residuals.covers(residual);
  }
  if (!covered) {  // what was kept is for cotangents of all outputs
    std::vector<Array> all = cotangents;
    for (size_t k = 0; k < all.size(); ++k) {
      if (kept.varied[k]) all[k] = instantiate(all[k], kept.outputs[k].shape());
    }
    ALPA_CHECK(mask != kept.varied);
    return run_backward(kept, all);
  }
  std::vector<Array> of_inputs(kept.inputs.size());
  if (std::find(given.begin(), given.end(), true) == given.end()) return of_inputs;
  std::vector<Closure> backward;
  for (size_t b = 0; b < pulled.size(); ++b) {
    const KeptBranch& branch = kept.branches[b];
    backward.push_back(trace_body("a backward branch", {}, [&](const std::vector<Array>&) {
      const Residuals::Sources sources{[&](size_t k) { return kept.inputs[k + 1]; },
                                       [&](size_t k) { return kept.outputs[branch.slots[k]]; },
                                       [&](size_t k) { return branch.hoisted[k]; }};
      std::vector<Array> arguments = chosen(cotangents, mask);
      for (const Array& residual : pulled[b].residuals) arguments.push_back(branch.residuals.value(residual, sources));
      const std::vector<Array> found = inline_call(*pulled[b].function, arguments);
      std::vector<Array> results;
      for (size_t k = 0, next = 0; k < given.size(); ++k) {
        const Array own = pulled[b].given[k] ? found[next++] : Array();
        if (given[k]) results.push_back(instantiate(own, kept.inputs[k + 1].shape()));
      }
      return results;
    }));
  }
  const std::vector<Array> found = emit_branches(kept.inputs[0], backward, kept.where);
  for (size_t k = 0, next = 0; k < given.size(); ++k) {
    if (given[k]) of_inputs[k + 1] = found[next++];
  }
  return of_inputs;
}

Linearized linearize_branches(const Functions& branches, const Node& node, const std::vector<Array>& inputs,
                              const std::vector<bool>& wanted) {
  auto kept = std::make_shared<Kept>();
  kept->inputs = inputs;
  kept->wanted.assign(wanted.begin() + 1, wanted.end());
  kept->varied = dependent_in_any(branches, kept->wanted);
  kept->where = node.where;
  const std::vector<bool> all(kept->wanted.size(), true), none(kept->wanted.size(), false);
  for (const auto& branch : branches) {
    LinearizedBody body = linearize_body(*branch, kept->wanted);
    Residuals residuals(body, all, none);
    const PulledBack pulled = pull_back_body(body, kept->varied);
    for (const Array& residual : pulled.residuals) residuals.need(residual);
    kept->branches.push_back({std::move(body), std::move(residuals), {}, {}});
  }
  run_forward(*kept, node.shapes.size());
  return {part(kept->outputs, 0, node.shapes.size()),
          [kept](const std::vector<Array>& cotangents) { return run_backward(*kept, cotangents); }};
}

Forward push_branches(const Functions& branches, const Node& node, const std::vector<Array>& inputs,
                      const std::vector<Array>& tangents) {
  std::vector<bool> active;
  for (size_t k = 1; k < tangents.size(); ++k) active.push_back(tangents[k].defined());
  const std::vector<bool> varied = dependent_in_any(branches, active);
  std::vector<Closure> both;
  for (const auto& branch : branches) {
    both.push_back(trace_body("a branch with tangents", {}, [&](const std::vector<Array>&) {
      std::vector<Array> points = part(inputs, 1, active.size()), variables;
      for (size_t k = 0; k < points.size(); ++k) {
        if (!active[k]) continue;
        points[k] = alias(points[k]);
        variables.push_back(points[k]);
      }
      const Forward forward =
          push_forward(inline_call(*branch, points), variables, chosen(part(tangents, 1, active.size()), active));
      std::vector<Array> results = forward.outputs;
      for (size_t k = 0; k < varied.size(); ++k) {
        if (varied[k]) results.push_back(instantiate(forward.tangents[k], forward.outputs[k].shape()));
      }
      return results;
    }));
  }
  const std::vector<Array> outputs = emit_branches(inputs[0], both, node.where);
  Forward forward{part(outputs, 0, varied.size()), std::vector<Array>(varied.size())};
  for (size_t k = 0, next = varied.size(); k < varied.size(); ++k) {
    if (varied[k]) forward.tangents[k] = outputs[next++];
  }
  return forward;
}

}  // namespace

std::vector<Array> emit_branches(const Array& index, const std::vector<Closure>& branches, const Where& where) {
  const std::vector<Array> captured = captured_by(branches);
  Functions functions;
  for (const Closure& branch : branches) functions.push_back(widened(branch, captured));
  Primitive primitive;
  primitive.name = "cond";
  primitive.lower = [functions](Lowering& lowering, const Node& node, const Ids& operands) {
    return lower_branches(functions, lowering, node, operands);
  };
  primitive.linearize = [functions](const Node& node, const std::vector<Array>& inputs,
                                    const std::vector<bool>& wanted) {
    return linearize_branches(functions, node, inputs, wanted);
  };
  primitive.push = [functions](const Node& node, const std::vector<Array>& inputs, const std::vector<Array>& tangents) {
    return push_branches(functions, node, inputs, tangents);
  };
  primitive.needs = [functions](const Node&, const std::vector<bool>& used) {
    std::vector<bool> needed = needed_of(functions, used);
    needed.insert(needed.begin(), true);
    return needed;
  };
  return emit(std::make_shared<const Primitive>(std::move(primitive)), joined({index}, captured),
              shapes_of(branches[0].function->results), where);
}

}  // namespace alpa::frontend
