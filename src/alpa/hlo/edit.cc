#include "alpa/hlo/edit.h"

#include "alpa/hlo/edit_proto.h"
#include "alpa/hlo/proto/hlo.pb.h"
#include "alpa/hlo/proto_literal.h"
#include "alpa/hlo/proto_sharding.h"

namespace alpa::hlo {
void set_sharding(Instruction& instruction, const std::optional<sharding::OpSharding>& sharding) {
  change_proto(instruction, [&](pb::HloInstructionProto& proto) {
    if (sharding) {
      *proto.mutable_sharding() = sharding_to_proto(*sharding);
    } else {
      proto.clear_sharding();
    }
  });
}

Instruction make_instruction(Opcode opcode, std::string name, tensor::Shape shape,
                             std::vector<InstructionId> operands) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.name = std::move(name);
  instruction.shape = std::move(shape);
  instruction.operands = std::move(operands);
  instruction.proto = std::make_shared<pb::HloInstructionProto>();
  return instruction;
}

Instruction make_constant(std::string name, const tensor::Literal& value) {
  Instruction instruction = make_instruction(Opcode::kConstant, std::move(name), value.shape(), {});
  change_proto(instruction,
               [&](pb::HloInstructionProto& proto) { *proto.mutable_literal() = literal_to_proto(value); });
  return instruction;
}

Instruction make_broadcast(std::string name, tensor::Shape shape, InstructionId operand,
                           const std::vector<int64_t>& dims) {
  Instruction instruction = make_instruction(Opcode::kBroadcast, std::move(name), std::move(shape), {operand});
  change_proto(instruction,
               [&](pb::HloInstructionProto& proto) { proto.mutable_dimensions()->Assign(dims.begin(), dims.end()); });
  return instruction;
}

Instruction make_compare(std::string name, const std::string& direction, const tensor::Shape& operands,
                         InstructionId lhs, InstructionId rhs) {
  Instruction instruction = make_instruction(Opcode::kCompare, std::move(name),
                                             tensor::Shape(tensor::DType::kPred, operands.dims), {lhs, rhs});
  change_proto(instruction, [&](pb::HloInstructionProto& proto) { proto.set_comparison_direction(direction); });
  return instruction;
}

Instruction make_slice(std::string name, tensor::Shape shape, InstructionId operand,
                       const std::vector<int64_t>& starts) {
  Instruction instruction = make_instruction(Opcode::kSlice, std::move(name), std::move(shape), {operand});
  std::vector<SliceDim> dims;
  for (size_t dim = 0; dim < starts.size(); ++dim)
    dims.push_back({starts[dim], starts[dim] + instruction.shape.dims[dim], 1});
  set_slice_dims(instruction, dims);
  return instruction;
}

Instruction make_dynamic_slice(std::string name, tensor::Shape shape, InstructionId operand,
                               const std::vector<InstructionId>& starts) {
  Instruction instruction = make_instruction(Opcode::kDynamicSlice, std::move(name), std::move(shape), {operand});
  instruction.operands.insert(instruction.operands.end(), starts.begin(), starts.end());
  const std::vector<int64_t>& sizes = instruction.shape.dims;
  change_proto(instruction, [&](pb::HloInstructionProto& proto) {
    proto.mutable_dynamic_slice_sizes()->Assign(sizes.begin(), sizes.end());
  });
  return instruction;
}

Instruction make_transpose(std::string name, const tensor::Shape& operand_shape, InstructionId operand,
                           const std::vector<int64_t>& dims) {
  tensor::Shape shape(operand_shape.dtype, {});
  for (const int64_t dim : dims) shape.dims.push_back(operand_shape.dims.at(static_cast<size_t>(dim)));
  Instruction instruction = make_instruction(Opcode::kTranspose, std::move(name), std::move(shape), {operand});
  set_dimensions(instruction, dims);
  return instruction;
}

Computation without_instructions(const Computation& computation) {
  Computation result;
  result.name = computation.name;
  result.proto = computation.proto;
  result.proto_id = computation.proto_id;
  return result;
}

Instruction remapped(const Instruction& instruction, const std::vector<InstructionId>& map) {
  Instruction copy = instruction;
  for (InstructionId& operand : copy.operands) operand = map[static_cast<size_t>(operand)];
  for (InstructionId& before : copy.control_predecessors) before = map[static_cast<size_t>(before)];
  return copy;
}

Instruction clone(const Instruction& instruction, std::string name, std::vector<InstructionId> operands) {
  Instruction copy = instruction;
  copy.name = std::move(name);
  copy.operands = std::move(operands);
  copy.proto_id = kUnnumbered;
  copy.control_predecessors.clear();
  return copy;
}

void set_groups(Instruction& instruction, int64_t feature_groups, int64_t batch_groups) {
  change_proto(instruction, [&](pb::HloInstructionProto& proto) {
    proto.set_feature_group_count(feature_groups);
    proto.set_batch_group_count(batch_groups);
  });
}

Instruction make_custom_call(const std::string& target, std::string name, tensor::Shape shape,
                             std::vector<InstructionId> operands) {
  Instruction instruction =
      make_instruction(Opcode::kCustomCall, std::move(name), std::move(shape), std::move(operands));
  change_proto(instruction, [&](pb::HloInstructionProto& proto) {
    proto.set_custom_call_target(target);
    proto.set_custom_call_api_version(1);
  });
  return instruction;
}

Instruction make_effect(const std::string& target, std::string name, tensor::Shape shape) {
  Instruction instruction = make_instruction(Opcode::kCustomCall, std::move(name), std::move(shape), {});
  change_proto(instruction, [&](pb::HloInstructionProto& proto) {
    proto.set_custom_call_target(target);
    proto.set_custom_call_api_version(4);
    proto.set_custom_call_has_side_effect(true);
  });
  return instruction;
}

void set_slice_dims(Instruction& instruction, const std::vector<SliceDim>& dims) {
  change_proto(instruction, [&](pb::HloInstructionProto& proto) {
    proto.clear_slice_dimensions();
    for (const SliceDim& dim : dims) {
      pb::SliceDimensions* one = proto.add_slice_dimensions();
      one->set_start(dim.start);
      one->set_limit(dim.limit);
      one->set_stride(dim.stride);
    }
  });
}

Instruction make_parameter(std::string name, const tensor::Shape& shape, int64_t number) {
  Instruction instruction = make_instruction(Opcode::kParameter, std::move(name), shape, {});
  set_parameter_number(instruction, number);
  return instruction;
}

void set_parameter_number(Instruction& instruction, int64_t number) {
  change_proto(instruction, [&](pb::HloInstructionProto& proto) { proto.set_parameter_number(number); });
}

Instruction make_get_tuple_element(std::string name, tensor::Shape shape, InstructionId tuple, int64_t index) {
  Instruction instruction = make_instruction(Opcode::kGetTupleElement, std::move(name), std::move(shape), {tuple});
  set_tuple_index(instruction, index);
  return instruction;
}

void set_tuple_index(Instruction& instruction, int64_t index) {
  change_proto(instruction, [&](pb::HloInstructionProto& proto) { proto.set_tuple_index(index); });
}

void set_dimensions(Instruction& instruction, const std::vector<int64_t>& dims) {
  change_proto(instruction,
               [&](pb::HloInstructionProto& proto) { proto.mutable_dimensions()->Assign(dims.begin(), dims.end()); });
}

void set_op_name(Instruction& instruction, const std::string& op_name) {
  change_proto(instruction, [&](pb::HloInstructionProto& proto) { proto.mutable_metadata()->set_op_name(op_name); });
}

void set_frontend_attribute(Instruction& instruction, const std::string& key, const std::string& value) {
  pb::FrontendAttributes attributes;
  pb::FrontendAttributes::Entry& entry = *attributes.add_map();
  entry.set_key(key);
  entry.set_value(value);
  change_proto(instruction,
               [&](pb::HloInstructionProto& proto) { proto.set_frontend_attributes(attributes.SerializeAsString()); });
}

void set_input_output_aliases(Module& module, const std::vector<Alias>& aliases) {
  auto copy = module.proto == nullptr ? std::make_shared<pb::HloModuleProto>()
                                      : std::make_shared<pb::HloModuleProto>(*module.proto);
  copy->clear_input_output_alias();
  copy->clear_buffer_donor();
  const bool tuple = module.entry_computation()[module.entry_computation().root].shape.is_tuple();
  for (const Alias& alias : aliases) {
    pb::AliasEntryProto* entry = copy->mutable_input_output_alias()->add_entries();
    if (tuple) entry->add_output_shape_index(alias.output);
    entry->set_parameter_number(alias.parameter);
    entry->set_kind(1);  // MAY_ALIAS
  }
  module.proto = std::move(copy);
}

void clear_partitioning(Module& module) {
  if (module.proto == nullptr) return;
  auto copy = std::make_shared<pb::HloModuleProto>(*module.proto);
  copy->clear_spmd_output_sharding();
  copy->clear_spmd_parameters_shardings();
  copy->clear_schedule();
  module.proto = std::move(copy);
}

}  // namespace alpa::hlo
