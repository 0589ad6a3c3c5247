#include "alpa/compiler/partition.h"

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/hlo/rewrite.h"
#include "alpa/pjrt/read_back.h"

namespace alpa::compiler {
namespace {

hlo::Module with_stop(hlo::Module module) {
  hlo::FreshNames names(module);
  hlo::Instruction stop =
      hlo::make_effect(std::string(pjrt::kStopTarget), names.name("stop"), tensor::Shape(tensor::DType::kU8, {}));
  sharding::OpSharding manual;
  manual.type = sharding::OpSharding::Type::kManual;
  hlo::set_sharding(stop, manual);
  module.entry_computation().instructions.push_back(std::move(stop));
  return module;
}

bool is_stop(const hlo::Instruction& instruction) {
  return instruction.opcode == hlo::Opcode::kCustomCall && hlo::custom_call_target(instruction) == pjrt::kStopTarget;
}

hlo::Module without_stop(const hlo::Module& module) {
  hlo::Module result = module;
  const hlo::Computation& old = module.entry_computation();
  hlo::Computation& kept = result.entry_computation();
  kept = hlo::without_instructions(old);
  std::vector<hlo::InstructionId> map(old.instructions.size(), -1);
  for (hlo::InstructionId id = 0; id < old.size(); ++id) {
    if (is_stop(old[id])) continue;
    map[static_cast<size_t>(id)] = kept.size();
    hlo::Instruction copy = old[id];
    std::erase_if(copy.control_predecessors, [&](hlo::InstructionId before) { return is_stop(old[before]); });
    kept.instructions.push_back(hlo::remapped(copy, map));
  }
  kept.root = map[static_cast<size_t>(old.root)];
  return result;
}

}  // namespace

hlo::Module partition(const hlo::Module& annotated, const pjrt::Client& client, const pjrt::CompileOptions& options) {
  return without_stop(hlo::read_module(pjrt::partition_only(client, hlo::write_module(with_stop(annotated)), options)));
}

}  // namespace alpa::compiler
