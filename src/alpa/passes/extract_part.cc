#include "alpa/passes/extract_part.h"

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/simplify.h"

namespace alpa::passes {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;

size_t at(InstructionId id) { return static_cast<size_t>(id); }

}  // namespace

hlo::Module extract_part(const hlo::Module& module, const Reach& reach, const std::vector<PartParameter>& parameters,
                         const std::vector<bool>& needed, const std::vector<InstructionId>& outputs) {
  const Computation& old = module.entry_computation();
  hlo::Module result = module;
  Computation& entry = result.entry_computation();
  entry = hlo::without_instructions(old);
  entry.proto = nullptr;
  std::vector<InstructionId> map(old.instructions.size(), -1);
  const auto append = [&](Instruction instruction) {
    entry.instructions.push_back(std::move(instruction));
    return entry.size() - 1;
  };
  for (size_t k = 0; k < parameters.size(); ++k) {
    const Instruction& like = old[parameters[k].like];
    Instruction parameter = like;
    if (like.opcode != Opcode::kParameter) {
      parameter = hlo::make_parameter(like.name, like.shape, 0);
      hlo::set_op_name(parameter, hlo::op_name(like));
    }
    hlo::set_parameter_number(parameter, static_cast<int64_t>(k));
    map[at(parameters[k].value)] = append(std::move(parameter));
  }
  for (InstructionId id = 0; id < old.size(); ++id) {
    if (!needed[at(id)] || map[at(id)] >= 0) continue;
    Instruction one = old[id];
    for (InstructionId& operand : one.operands) operand = map[at(reach.seen_through(operand))];
    std::erase_if(one.control_predecessors, [&](InstructionId before) { return map[at(before)] < 0; });
    for (InstructionId& before : one.control_predecessors) before = map[at(before)];
    map[at(id)] = append(std::move(one));
  }
  std::vector<InstructionId> elements;
  std::vector<tensor::Shape> shapes;
  for (const InstructionId output : outputs) {
    elements.push_back(map[at(reach.seen_through(output))]);
    shapes.push_back(old[output].shape);
  }
  entry.root =
      append(hlo::make_instruction(Opcode::kTuple, old[old.root].name, tensor::Shape::tuple(shapes), elements));
  return hlo::drop_uncalled(std::move(result));
}

}  // namespace alpa::passes
