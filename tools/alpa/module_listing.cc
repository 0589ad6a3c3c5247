#include "module_listing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "alpa/hlo/attributes.h"

namespace alpa::tool {
namespace {

std::string details(const hlo::Module& module, const hlo::Instruction& one) {
  std::string text;
  if (one.opcode == hlo::Opcode::kGetTupleElement) text += fmt::format(", index={}", hlo::tuple_index(one));
  if (one.opcode == hlo::Opcode::kCustomCall) text += fmt::format(", target=\"{}\"", hlo::custom_call_target(one));
  for (const hlo::ComputationId id : one.called) text += ", calls=" + module.computation(id).name;
  const std::string op_name = hlo::op_name(one);
  if (!op_name.empty()) text += "  // " + op_name;
  return text;
}

}  // namespace

std::string module_listing(const hlo::Module& module) {
  std::string text = fmt::format("module {}\n", module.name);
  for (hlo::ComputationId id = 0; id < static_cast<hlo::ComputationId>(module.computations.size()); ++id) {
    const hlo::Computation& computation = module.computation(id);
    text += fmt::format("\n{}{} {{\n", id == module.entry ? "entry " : "", computation.name);
    for (hlo::InstructionId at = 0; at < computation.size(); ++at) {
      const hlo::Instruction& one = computation[at];
      std::vector<std::string> operands;
      if (one.opcode == hlo::Opcode::kParameter) operands.push_back(std::to_string(hlo::parameter_number(one)));
      for (const hlo::InstructionId operand : one.operands) operands.push_back(computation[operand].name);
      text += fmt::format("  {}{} = {} {}({}){}\n", at == computation.root ? "root " : "", one.name,
                          tensor::to_string(one.shape), hlo::name(one.opcode), fmt::join(operands, ", "),
                          details(module, one));
    }
    text += "}\n";
  }
  return text;
}

}  // namespace alpa::tool
