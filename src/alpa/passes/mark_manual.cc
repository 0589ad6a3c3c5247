#include "alpa/passes/mark_manual.h"

#include "alpa/hlo/collectives.h"
#include "alpa/hlo/edit.h"

namespace alpa::passes {
namespace {

using sharding::OpSharding;

OpSharding of_type(OpSharding::Type type) {
  OpSharding sharding;
  sharding.type = type;
  return sharding;
}

void add_leaves(const tensor::Shape& shape, std::vector<OpSharding>& leaves) {
  if (!shape.is_tuple()) leaves.push_back(of_type(OpSharding::Type::kManual));
  for (const tensor::Shape& element : shape.elements) add_leaves(element, leaves);
}

OpSharding manual(const tensor::Shape& shape) {
  if (!shape.is_tuple()) return of_type(OpSharding::Type::kManual);
  OpSharding sharding = of_type(OpSharding::Type::kTuple);
  add_leaves(shape, sharding.elements);
  if (sharding.elements.empty()) sharding.elements.push_back(of_type(OpSharding::Type::kManual));  // XLA's rule
  return sharding;
}

}  // namespace

hlo::Module mark_manual(const hlo::Module& partitioned) {
  hlo::Module result = partitioned;
  const std::vector<double> executions = hlo::executions(partitioned);  // 0 for what is applied to elements
  for (size_t id = 0; id < executions.size(); ++id) {
    if (executions[id] == 0) continue;
    for (hlo::Instruction& instruction : result.computations[id].instructions)
      hlo::set_sharding(instruction, manual(instruction.shape));
  }
  hlo::clear_partitioning(result);
  return result;
}

}  // namespace alpa::passes
