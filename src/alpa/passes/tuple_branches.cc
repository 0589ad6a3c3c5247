#include "alpa/passes/tuple_branches.h"

#include <optional>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"

namespace alpa::passes {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using tensor::Shape;

// What is asked of a branch by its conditional.
struct Wrap {
  bool parameter = false;
  bool result = false;
};

Instruction element_of(const std::string& name, const Shape& shape, InstructionId tuple) {
  Instruction get = hlo::make_instruction(Opcode::kGetTupleElement, name, shape, {tuple});
  hlo::set_tuple_index(get, 0);
  return get;
}

Computation rebuild(const Computation& computation, const Wrap& wrap) {
  Computation result = hlo::without_instructions(computation);
  const auto append = [&](Instruction instruction) {
    result.instructions.push_back(std::move(instruction));
    return result.size() - 1;
  };
  const auto tuple_of = [&](InstructionId element, const std::string& name) {
    return append(hlo::make_instruction(Opcode::kTuple, name, Shape::tuple({result[element].shape}), {element}));
  };
  std::vector<InstructionId> map(computation.instructions.size());
  for (InstructionId id = 0; id < computation.size(); ++id) {
    Instruction copy = hlo::remapped(computation[id], map);
    const std::string name = copy.name;
    const Shape shape = copy.shape;
    bool unwrap = wrap.parameter && copy.opcode == Opcode::kParameter;
    if (copy.opcode == Opcode::kConditional) {
      for (size_t k = 1; k < copy.operands.size(); ++k) {
        if (!result[copy.operands[k]].shape.is_tuple())
          copy.operands[k] = tuple_of(copy.operands[k], name + ".argument." + std::to_string(k));
      }
      unwrap = !shape.is_tuple();
    }
    if (unwrap) copy.shape = Shape::tuple({shape});
    map[static_cast<size_t>(id)] = append(std::move(copy));
    if (unwrap) map[static_cast<size_t>(id)] = append(element_of(name + ".only", shape, map[static_cast<size_t>(id)]));
  }
  result.root = map[static_cast<size_t>(computation.root)];
  if (wrap.result) result.root = tuple_of(result.root, computation[computation.root].name + ".result");
  return result;
}

}  // namespace

hlo::Module tuple_branches(const hlo::Module& module) {
  std::vector<Wrap> wraps(module.computations.size());
  bool any = false;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.opcode != Opcode::kConditional) continue;
      any = true;
      for (size_t branch = 0; branch < instruction.called.size(); ++branch) {
        const InstructionId operand = instruction.operands.at(branch + 1);
        wraps[static_cast<size_t>(instruction.called[branch])] = {!computation[operand].shape.is_tuple(),
                                                                  !instruction.shape.is_tuple()};
      }
    }
  }
  if (!any) return module;
  hlo::Module result = module;
  for (size_t id = 0; id < wraps.size(); ++id) result.computations[id] = rebuild(module.computations[id], wraps[id]);
  return result;
}

}  // namespace alpa::passes
