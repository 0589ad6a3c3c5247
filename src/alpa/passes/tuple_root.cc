#include "alpa/passes/tuple_root.h"

#include <utility>
#include <vector>

#include "alpa/hlo/edit.h"
#include "alpa/hlo/rewrite.h"

namespace alpa::passes {

hlo::Module tuple_root(hlo::Module module) {
  hlo::FreshNames names(module);
  hlo::Computation& entry = module.entry_computation();
  const hlo::InstructionId root = entry.root;
  if (entry[root].opcode == hlo::Opcode::kTuple || !entry[root].shape.is_tuple()) return module;
  const std::vector<tensor::Shape> shapes(entry[root].shape.elements.begin(), entry[root].shape.elements.end());
  std::vector<hlo::InstructionId> outputs;
  for (size_t k = 0; k < shapes.size(); ++k) {
    entry.instructions.push_back(
        hlo::make_get_tuple_element(names.name("output"), shapes[k], root, static_cast<int64_t>(k)));
    outputs.push_back(entry.size() - 1);
  }
  entry.instructions.push_back(
      hlo::make_instruction(hlo::Opcode::kTuple, names.name("outputs"), tensor::Shape::tuple(shapes), outputs));
  entry.root = entry.size() - 1;
  return module;
}

}  // namespace alpa::passes
