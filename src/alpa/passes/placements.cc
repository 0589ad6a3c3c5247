#include "alpa/passes/placements.h"

#include "alpa/base/error.h"

namespace alpa::passes {

using sharding::ShardingSpec;

namespace {

// The names of axes in a plan are the mesh's; one of size 1 divides nothing and no way between placements names it.
bool names_an_axis_of_one(const ShardingSpec& spec, const mesh::LogicalMesh& mesh) {
  for (const sharding::Tile& tile : spec.dims) {
    for (const int axis : tile.axes()) {
      if (mesh.size(axis) == 1) return true;
    }
  }
  return false;
}

}  // namespace

Placements::Placements(const hlo::Module& module, const hlo::ValueGraph& graph, const plan::Plan& plan)
    : module_(module), graph_(graph), plan_(plan), specs_(graph.values.size()) {
  for (hlo::NodeId id = 0; id < static_cast<hlo::NodeId>(graph.nodes.size()); ++id) {
    if (hlo::is_generator(module, graph, id)) continue;
    const hlo::Node& node = graph.nodes[static_cast<size_t>(id)];
    for (size_t k = 0; k < node.results.size(); ++k) {
      const auto value = static_cast<size_t>(node.results[k]);
      specs_[value] = planned(key_of(node), static_cast<size_t>(node.leaf) + k, graph.values[value].shape);
    }
  }
}

std::vector<ShardingSpec> Placements::operands(const hlo::Instruction& instruction,
                                               const std::vector<hlo::ValueId>& operands,
                                               const ShardingSpec& result) const {
  const auto found = plan_.operands.find(instruction.name);
  std::vector<ShardingSpec> specs;
  for (size_t k = 0; k < operands.size(); ++k) {
    const tensor::Shape& shape = graph_.values[static_cast<size_t>(operands[k])].shape;
    if (found != plan_.operands.end()) {
      specs.push_back(checked(found->second, k, shape, instruction.name));
    } else if (!is_generator(operands[k])) {
      specs.push_back(spec(operands[k]));
    } else {
      specs.push_back(shape.rank() == result.rank() ? result : ShardingSpec::replicated(shape.rank()));
    }
  }
  return specs;
}

const std::string& Placements::key_of(const hlo::Node& node) const {
  const hlo::Instruction& instruction = module_.computation(node.computation)[node.instruction];
  if (node.kind != hlo::Node::Kind::kBranch) return instruction.name;
  const hlo::Computation& branch = module_.computation(instruction.called.at(static_cast<size_t>(node.branch)));
  return branch[hlo::parameters(branch).at(0)].name;
}

ShardingSpec Placements::planned(const std::string& name, size_t leaf, const tensor::Shape& shape) const {
  const auto found = plan_.ops.find(name);
  require<InvalidArgumentError>(found != plan_.ops.end(), "annotate",
                                "the plan says nothing of instruction {}: it is of another program", name);
  return checked(found->second, leaf, shape, name);
}

const ShardingSpec& Placements::checked(const std::vector<ShardingSpec>& specs, size_t index,
                                        const tensor::Shape& shape, const std::string& name) const {
  require<InvalidArgumentError>(
      index < specs.size() && specs[index].rank() == shape.rank() && sharding::divides(specs[index], shape, plan_.mesh),
      "annotate", "the plan's placement of instruction {} does not fit {}: it is of another program", name,
      tensor::to_string(shape));
  require<InvalidArgumentError>(!names_an_axis_of_one(specs[index], plan_.mesh), "annotate",
                                "the plan's placement {} of instruction {} names an axis of size 1: leave it out",
                                sharding::to_string(specs[index], plan_.mesh), name);
  return specs[index];
}

}  // namespace alpa::passes
