#include "alpa/frontend/lower.h"

#include <fmt/format.h>

#include "alpa/base/error.h"

namespace alpa::frontend {

Lowering::Lowering(hlo::ModuleBuilder& module, std::string name)
    : module_(module), name_(std::move(name)), builder_(name_) {}

std::vector<hlo::InstructionId> Lowering::leaf(const Node& node) {
  if (!node.is_known()) {
    raise<InvalidArgumentError>("trace",
                                "an array traced by {} is used outside of it: return it from the function instead",
                                node.trace ? node.trace->what : "another function");
  }
  std::vector<hlo::InstructionId> ids;
  for (size_t k = 0; k < node.shapes.size(); ++k) {
    const tensor::PlacedValue& value = node.value(static_cast<int>(k));
    require<InvalidArgumentError>(!value.is_deleted(), "trace",
                                  "an array {} that the function captures was donated or its cluster shut down",
                                  tensor::to_string(value.shape()));
    ids.push_back(builder_.constant(value.to_host()));
  }
  return ids;
}

std::vector<hlo::InstructionId> Lowering::run(const std::vector<Array>& parameters,
                                              const std::vector<hlo::InstructionId>& arguments,
                                              const std::vector<Array>& results) {
  for (size_t k = 0; k < parameters.size(); ++k) {
    // A known operation of several outputs is a parameter for each.
    std::vector<hlo::InstructionId>& ids = ids_[parameters[k].node().get()];
    ids.resize(parameters[k].node()->shapes.size(), -1);
    ids[static_cast<size_t>(parameters[k].output())] = arguments[k];
  }
  const Liveness live(results);
  for (const std::shared_ptr<Node>& node : live.nodes()) {
    if (ids_.count(node.get()) > 0) continue;
    if (node->primitive == nullptr || node->is_known()) {
      ids_[node.get()] = leaf(*node);
      continue;
    }
    std::vector<hlo::InstructionId> operands;
    for (const Array& input : node->inputs) {
      const auto made = ids_.find(input.node().get());  // not there: nothing used needs it
      operands.push_back(made == ids_.end() ? -1 : made->second[static_cast<size_t>(input.output())]);
    }
    used_ = live.used(*node);
    builder_.set_op_name(node->scope.empty() ? node->primitive->name : node->scope + "/" + node->primitive->name);
    ids_[node.get()] = node->primitive->lower(*this, *node, operands);
  }
  std::vector<hlo::InstructionId> ids;
  for (const Array& result : results) ids.push_back(ids_.at(result.node().get())[static_cast<size_t>(result.output())]);
  return ids;
}

Lowering Lowering::nested(const std::string& name) {
  return Lowering(module_, fmt::format("{}.{}.{}", name_, name, module_.num_computations()));
}

hlo::ComputationId Lowering::function(const Function& function, const std::string& name, bool tupled) {
  Lowering inner = nested(name);
  std::vector<hlo::InstructionId> arguments;
  if (tupled) {
    std::vector<Shape> shapes;
    for (const Array& parameter : function.parameters) shapes.push_back(parameter.shape());
    const hlo::InstructionId tuple = inner.builder_.parameter(Shape::tuple(std::move(shapes)));
    for (size_t k = 0; k < function.parameters.size(); ++k)
      arguments.push_back(inner.builder_.get_tuple_element(tuple, static_cast<int64_t>(k)));
  } else {
    for (const Array& parameter : function.parameters) arguments.push_back(inner.builder_.parameter(parameter.shape()));
  }
  const std::vector<hlo::InstructionId> results = inner.run(function.parameters, arguments, function.results);
  const hlo::InstructionId root = results.size() == 1 && !tupled ? results[0] : inner.builder_.tuple(results);
  return module_.add(std::move(inner).build(root));
}

hlo::ComputationId Lowering::reducer(hlo::Opcode opcode, DType dtype) { return module_.reducer(opcode, dtype); }

hlo::Module lower(const Function& function, const std::string& name, const std::vector<std::string>& parameter_names) {
  hlo::ModuleBuilder module(name);
  Lowering lowering(module, "main");
  std::vector<hlo::InstructionId> arguments;
  for (size_t k = 0; k < function.parameters.size(); ++k) {
    arguments.push_back(lowering.builder().parameter(function.parameters[k].shape(),
                                                     k < parameter_names.size() ? parameter_names[k] : ""));
  }
  const auto results = lowering.run(function.parameters, arguments, function.results);
  const hlo::InstructionId root = lowering.builder().tuple(results);
  return std::move(module).build(std::move(lowering).build(root));
}

}  // namespace alpa::frontend
