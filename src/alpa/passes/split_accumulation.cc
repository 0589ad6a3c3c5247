#include "alpa/passes/split_accumulation.h"

#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"
#include "alpa/passes/extract_part.h"

namespace alpa::passes {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;

size_t at(InstructionId id) { return static_cast<size_t>(id); }

// What crosses from the micro-batches to the step, and what each part needs.
struct Cut {
  Cut(const Computation& entry, const Accumulation& layout) : reach(entry) {
    const std::vector<InstructionId>& outputs = entry[entry.root].operands;
    const auto cut = outputs.begin() + static_cast<std::ptrdiff_t>(layout.num_outputs);
    step_outputs.assign(outputs.begin(), cut);
    crossing.assign(cut, outputs.end());
    crosses.assign(entry.instructions.size(), false);
    for (const InstructionId id : crossing) crosses[at(id)] = true;
    in_accumulate = reach.ancestors(crossing, [](InstructionId) { return false; });
    in_apply = reach.ancestors(step_outputs, [&](InstructionId id) { return crosses[at(id)]; });
  }

  Reach reach;
  std::vector<InstructionId> step_outputs, crossing;
  std::vector<bool> crosses, in_accumulate, in_apply;  ///< By instruction.
};

}  // namespace

SplitAccumulation split_accumulation(const hlo::Module& module, const Accumulation& layout) {
  const Computation& entry = module.entry_computation();
  const std::vector<InstructionId> parameters = hlo::parameters(entry);
  const Cut cut(entry, layout);
  const std::vector<hlo::Alias> aliases = hlo::input_output_aliases(module);
  SplitAccumulation result;
  std::vector<PartParameter> accumulate, apply;
  std::vector<int64_t> in_apply(at(static_cast<InstructionId>(layout.num_inputs)), -1);
  for (int k = 0; k < static_cast<int>(layout.num_inputs); ++k) {
    const InstructionId id = parameters[static_cast<size_t>(k)];
    const bool taken = std::any_of(aliases.begin(), aliases.end(), [&](const auto& one) { return one.parameter == k; });
    if (cut.in_accumulate[at(id)]) {
      accumulate.push_back({id, id});
      result.accumulate.step_inputs.push_back(k);
    }
    if (cut.in_apply[at(id)] || taken) {
      in_apply[static_cast<size_t>(k)] = static_cast<int64_t>(apply.size());
      apply.push_back({id, id});
      result.apply.step_inputs.push_back(k);
    }
  }
  const InstructionId flag = parameters[static_cast<size_t>(layout.flag())];
  accumulate.push_back({flag, flag});
  std::vector<hlo::Alias> sums, states;
  for (int64_t k = 0; k < layout.num_accumulators; ++k) {
    const InstructionId accumulator = parameters[static_cast<size_t>(layout.accumulator(k))];
    sums.push_back({.output = k, .parameter = static_cast<int64_t>(accumulate.size())});
    accumulate.push_back({accumulator, accumulator});
    apply.push_back({cut.crossing[static_cast<size_t>(k)], accumulator});
  }
  for (size_t k = static_cast<size_t>(layout.num_accumulators); k < cut.crossing.size(); ++k)
    apply.push_back({cut.crossing[k], cut.crossing[k]});
  for (const hlo::Alias& alias : aliases) {
    if (alias.output < layout.num_outputs)
      states.push_back({.output = alias.output, .parameter = in_apply[static_cast<size_t>(alias.parameter)]});
  }
  result.accumulate.module = extract_part(module, cut.reach, accumulate, cut.in_accumulate, cut.crossing);
  result.apply.module = extract_part(module, cut.reach, apply, cut.in_apply, cut.step_outputs);
  result.accumulate.module.name += ".accumulate";
  result.apply.module.name += ".apply";
  hlo::set_input_output_aliases(result.accumulate.module, sums);
  hlo::set_input_output_aliases(result.apply.module, states);
  return result;
}

std::vector<double> executions_in_parts(const hlo::Module& module, const Accumulation& layout) {
  const Cut cut(module.entry_computation(), layout);
  std::vector<double> result;
  for (size_t id = 0; id < cut.in_apply.size(); ++id) {
    result.push_back((cut.in_accumulate[id] ? static_cast<double>(layout.micro_batches) : 0) +
                     (cut.in_apply[id] && !cut.crosses[id] ? 1 : 0));
  }
  return result;
}

}  // namespace alpa::passes
