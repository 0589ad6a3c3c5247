#include <algorithm>
#include <unordered_set>

#include "alpa/base/error.h"
#include "alpa/hlo/proto/hlo.pb.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/hlo/proto_module.h"
#include "alpa/hlo/proto_shape.h"

namespace alpa::hlo {
namespace {

std::vector<int64_t> computation_ids(const Module& module) {
  std::vector<int64_t> ids;
  int64_t next = 0;
  for (const Computation& computation : module.computations) next = std::max(next, computation.proto_id + 1);
  for (const Computation& computation : module.computations) {
    ids.push_back(computation.proto_id == kUnnumbered ? next++ : computation.proto_id);
  }
  return ids;
}

// Ids that were read are kept; new instructions take the numbers after the largest.
std::vector<int64_t> instruction_ids(const Computation& computation, int64_t computation_id) {
  constexpr int64_t kLocal = 0xffffffff;
  int64_t next = 0;
  for (const Instruction& instruction : computation.instructions) {
    if (instruction.proto_id != kUnnumbered) next = std::max(next, (instruction.proto_id & kLocal) + 1);
  }
  std::vector<int64_t> ids;
  ids.reserve(computation.instructions.size());
  for (const Instruction& instruction : computation.instructions) {
    ids.push_back(instruction.proto_id != kUnnumbered ? instruction.proto_id : (computation_id << 32 | next++));
  }
  return ids;
}

void write_shape(const tensor::Shape& shape, pb::HloInstructionProto& proto) {
  if (proto.has_shape() && shape_from_proto(proto.shape()) == shape) return;  // keeps its layout
  *proto.mutable_shape() = shape_to_proto(shape);
}

void write_instruction(const Instruction& instruction, int64_t id, const std::vector<int64_t>& ids,
                       const std::vector<int64_t>& comps, pb::HloInstructionProto& proto) {
  proto = *instruction.proto;
  proto.set_name(instruction.name);
  proto.set_opcode(std::string(name(instruction.opcode)));
  proto.set_id(id);
  write_shape(instruction.shape, proto);
  proto.clear_operand_ids();
  for (const InstructionId operand : instruction.operands) proto.add_operand_ids(ids[static_cast<size_t>(operand)]);
  proto.clear_control_predecessor_ids();
  for (const InstructionId before : instruction.control_predecessors) {
    proto.add_control_predecessor_ids(ids[static_cast<size_t>(before)]);
  }
  proto.clear_called_computation_ids();
  for (const ComputationId callee : instruction.called) {
    proto.add_called_computation_ids(comps[static_cast<size_t>(callee)]);
  }
}

// The signature of a computation, from its instructions; kept as read where it still fits.
void write_program_shape(const Computation& computation, pb::ProgramShapeProto& proto) {
  const auto params = parameters(computation);
  const auto fits = [&] {
    if (proto.parameters_size() != static_cast<int>(params.size()) || !proto.has_result()) return false;
    for (size_t k = 0; k < params.size(); ++k) {
      if (!(shape_from_proto(proto.parameters(static_cast<int>(k))) == computation[params[k]].shape)) return false;
    }
    return shape_from_proto(proto.result()) == computation[computation.root].shape;
  };
  if (fits()) return;
  const auto names = proto.parameter_names();
  proto.Clear();
  for (size_t k = 0; k < params.size(); ++k) {
    *proto.add_parameters() = shape_to_proto(computation[params[k]].shape);
    const bool known = static_cast<int>(k) < names.size();
    proto.add_parameter_names(known ? names[static_cast<int>(k)] : computation[params[k]].name);
  }
  *proto.mutable_result() = shape_to_proto(computation[computation.root].shape);
}

void write_computation(const Computation& computation, int64_t id, const std::vector<int64_t>& comps,
                       pb::HloComputationProto& proto) {
  if (computation.proto != nullptr) proto = *computation.proto;
  proto.set_name(computation.name);
  proto.set_id(id);
  const auto ids = instruction_ids(computation, id);
  proto.set_root_id(ids[static_cast<size_t>(computation.root)]);
  write_program_shape(computation, *proto.mutable_program_shape());
  for (size_t k = 0; k < ids.size(); ++k) {
    write_instruction(computation.instructions[k], ids[k], ids, comps, *proto.add_instructions());
  }
}

}  // namespace

pb::ProgramShapeProto derived_program_shape(const pb::HloComputationProto& computation) {
  std::vector<const pb::HloInstructionProto*> params;
  pb::ProgramShapeProto shape;
  for (const pb::HloInstructionProto& instruction : computation.instructions()) {
    if (instruction.opcode() == "parameter") params.push_back(&instruction);
    if (instruction.id() == computation.root_id()) *shape.mutable_result() = instruction.shape();
  }
  std::stable_sort(params.begin(), params.end(),
                   [](const auto* a, const auto* b) { return a->parameter_number() < b->parameter_number(); });
  for (const pb::HloInstructionProto* param : params) {
    *shape.add_parameters() = param->shape();
    shape.add_parameter_names(param->name());
  }
  return shape;
}

pb::HloModuleProto module_to_proto(const Module& module) {
  pb::HloModuleProto proto;
  if (module.proto != nullptr) proto = *module.proto;
  const auto comps = computation_ids(module);
  proto.set_name(module.name);
  proto.set_entry_computation_id(comps[static_cast<size_t>(module.entry)]);
  proto.set_entry_computation_name(module.entry_computation().name);
  write_program_shape(module.entry_computation(), *proto.mutable_host_program_shape());
  for (size_t k = 0; k < comps.size(); ++k) {
    write_computation(module.computations[k], comps[k], comps, *proto.add_computations());
  }
  return proto;
}

std::string write_module(const Module& module) {
  std::string bytes;
  ALPA_CHECK(module_to_proto(module).SerializeToString(&bytes));
  return bytes;
}

}  // namespace alpa::hlo
