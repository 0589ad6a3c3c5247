#include "alpa/hlo/attributes.h"

#include <cstring>

#include "alpa/base/error.h"
#include "alpa/hlo/proto/hlo.pb.h"
#include "alpa/hlo/proto_literal.h"
#include "alpa/hlo/proto_sharding.h"

namespace alpa::hlo {
namespace {

const pb::HloInstructionProto& proto_of(const Instruction& instruction) {
  ALPA_CHECK(instruction.proto != nullptr);
  return *instruction.proto;
}

template <typename Repeated>
std::vector<int64_t> list(const Repeated& values) {
  return {values.begin(), values.end()};
}

int64_t groups_in(const pb::IotaReplicaGroupListProto& iota) { return iota.num_devices_per_group(); }

// Product of the sizes of the axes (or parts of axes) that a group runs over.
int64_t group_size_of(const pb::MeshAxesReplicaGroupListProto& list) {
  int64_t size = 1;
  for (const pb::AxisRefProto& axis : list.axes()) {
    const bool known = axis.mesh_axis_index() >= 0 && axis.mesh_axis_index() < list.mesh().axes_size();
    if (axis.has_sub_axis_info()) {
      size *= axis.sub_axis_info().size();
    } else if (known) {
      size *= list.mesh().axes(static_cast<int>(axis.mesh_axis_index())).size();
    }
  }
  return size;
}

}  // namespace

DotDims dot_dims(const Instruction& instruction) {
  const auto& proto = proto_of(instruction);
  const auto& dims = instruction.opcode == Opcode::kRaggedDot
                         ? proto.ragged_dot_dimension_numbers().dot_dimension_numbers()
                         : proto.dot_dimension_numbers();
  return {.lhs_contracting = list(dims.lhs_contracting_dimensions()),
          .rhs_contracting = list(dims.rhs_contracting_dimensions()),
          .lhs_batch = list(dims.lhs_batch_dimensions()),
          .rhs_batch = list(dims.rhs_batch_dimensions())};
}

bool WindowDim::is_trivial() const {
  return size == 1 && stride == 1 && padding_low == 0 && padding_high == 0 && base_dilation == 1;
}

std::vector<WindowDim> window(const Instruction& instruction) {
  std::vector<WindowDim> result;
  for (const pb::WindowDimension& dim : proto_of(instruction).window().dimensions()) {
    result.push_back({.size = dim.size(),
                      .stride = dim.stride(),
                      .padding_low = dim.padding_low(),
                      .padding_high = dim.padding_high(),
                      .window_dilation = dim.window_dilation(),
                      .base_dilation = dim.base_dilation(),
                      .reversal = dim.window_reversal()});
  }
  return result;
}

ConvolutionDims convolution_dims(const Instruction& instruction) {
  const auto& proto = proto_of(instruction);
  const auto& dims = proto.convolution_dimension_numbers();
  ConvolutionDims result;
  result.input_batch = dims.input_batch_dimension();
  result.input_feature = dims.input_feature_dimension();
  result.kernel_input_feature = dims.kernel_input_feature_dimension();
  result.kernel_output_feature = dims.kernel_output_feature_dimension();
  result.output_batch = dims.output_batch_dimension();
  result.output_feature = dims.output_feature_dimension();
  result.input_spatial = list(dims.input_spatial_dimensions());
  result.kernel_spatial = list(dims.kernel_spatial_dimensions());
  result.output_spatial = list(dims.output_spatial_dimensions());
  result.feature_groups = std::max<int64_t>(1, proto.feature_group_count());
  result.batch_groups = std::max<int64_t>(1, proto.batch_group_count());
  return result;
}

GatherDims gather_dims(const Instruction& instruction) {
  const auto& proto = proto_of(instruction);
  const auto& dims = proto.gather_dimension_numbers();
  return {.offset = list(dims.offset_dims()),
          .collapsed = list(dims.collapsed_slice_dims()),
          .start_index_map = list(dims.start_index_map()),
          .operand_batching = list(dims.operand_batching_dims()),
          .indices_batching = list(dims.start_indices_batching_dims()),
          .slice_sizes = list(proto.gather_slice_sizes()),
          .index_vector_dim = dims.index_vector_dim()};
}

ScatterDims scatter_dims(const Instruction& instruction) {
  const auto& dims = proto_of(instruction).scatter_dimension_numbers();
  return {.update_window = list(dims.update_window_dims()),
          .inserted_window = list(dims.inserted_window_dims()),
          .scatter_to_operand = list(dims.scatter_dims_to_operand_dims()),
          .input_batching = list(dims.input_batching_dims()),
          .indices_batching = list(dims.scatter_indices_batching_dims()),
          .index_vector_dim = dims.index_vector_dim()};
}

std::vector<SliceDim> slice_dims(const Instruction& instruction) {
  std::vector<SliceDim> result;
  for (const pb::SliceDimensions& dim : proto_of(instruction).slice_dimensions()) {
    result.push_back({.start = dim.start(), .limit = dim.limit(), .stride = dim.stride()});
  }
  return result;
}

std::vector<PadDim> pad_dims(const Instruction& instruction) {
  std::vector<PadDim> result;
  for (const pb::PaddingConfigDimension& dim : proto_of(instruction).padding_config().dimensions()) {
    result.push_back(
        {.low = dim.edge_padding_low(), .high = dim.edge_padding_high(), .interior = dim.interior_padding()});
  }
  return result;
}

std::vector<int64_t> dimensions(const Instruction& instruction) { return list(proto_of(instruction).dimensions()); }
int64_t parameter_number(const Instruction& instruction) { return proto_of(instruction).parameter_number(); }
int64_t tuple_index(const Instruction& instruction) { return proto_of(instruction).tuple_index(); }

std::string comparison_direction(const Instruction& instruction) {
  return proto_of(instruction).comparison_direction();
}

std::string custom_call_target(const Instruction& instruction) { return proto_of(instruction).custom_call_target(); }
std::string backend_config(const Instruction& instruction) { return proto_of(instruction).backend_config(); }
std::string op_name(const Instruction& instruction) { return proto_of(instruction).metadata().op_name(); }

std::string frontend_attribute(const Instruction& instruction, std::string_view key) {
  if (instruction.proto == nullptr || !instruction.proto->has_frontend_attributes()) return {};
  pb::FrontendAttributes attributes;
  if (!attributes.ParseFromString(instruction.proto->frontend_attributes())) return {};
  for (const auto& entry : attributes.map()) {
    if (entry.key() == key) return entry.value();
  }
  return {};
}

std::optional<tensor::Literal> constant_value(const Instruction& instruction) {
  if (!proto_of(instruction).has_literal()) return std::nullopt;
  return literal_from_proto(proto_of(instruction).literal(), instruction.shape);
}

std::optional<int64_t> integer_constant(const Instruction& instruction) {
  if (instruction.opcode != Opcode::kConstant || instruction.shape.rank() != 0) return std::nullopt;
  const bool integral = tensor::is_integral(instruction.shape.dtype) || instruction.shape.dtype == tensor::DType::kPred;
  if (!integral) return std::nullopt;
  const auto value = constant_value(instruction);
  if (!value) return std::nullopt;
  if (instruction.shape.dtype == tensor::DType::kS64 || instruction.shape.dtype == tensor::DType::kU64) {
    int64_t exact;
    std::memcpy(&exact, value->bytes().data(), sizeof(exact));
    return exact;
  }
  return static_cast<int64_t>(value->at(0));
}

std::optional<sharding::OpSharding> sharding(const Instruction& instruction) {
  if (!proto_of(instruction).has_sharding()) return std::nullopt;
  return sharding_from_proto(proto_of(instruction).sharding());
}

int64_t group_size(const Instruction& instruction, int64_t num_devices) {
  const auto& proto = proto_of(instruction);
  int64_t size = 0;
  if (proto.replica_groups_size() > 0) size = proto.replica_groups(0).replica_ids_size();
  if (proto.has_collective_device_list()) {
    const auto& devices = proto.collective_device_list();
    if (devices.replica_groups_size() > 0) size = devices.replica_groups(0).replica_ids_size();
    if (devices.has_iota_replica_group_list()) size = groups_in(devices.iota_replica_group_list());
  }
  if (proto.has_iota_collective_device_list()) size = groups_in(proto.iota_collective_device_list());
  if (proto.has_mesh_axes_replica_group_list()) size = group_size_of(proto.mesh_axes_replica_group_list());
  return size > 0 ? size : num_devices;
}

namespace {

// Opcode and attributes alone.
std::string signature_alone(const Instruction& instruction) {
  pb::HloInstructionProto proto = proto_of(instruction);
  proto.clear_name();
  proto.clear_metadata();
  proto.clear_shape();
  proto.clear_sharding();
  proto.clear_id();
  proto.clear_operand_ids();
  proto.clear_control_predecessor_ids();
  proto.clear_called_computation_ids();
  proto.clear_parameter_number();
  proto.clear_original_value();
  proto.clear_frontend_attributes();
  proto.clear_statistics_viz();
  return std::string(name(instruction.opcode)) + ':' + proto.SerializeAsString();
}

// Of a reducer or comparator: what each instruction does, to which of the others, and which of them is the result.
std::string signature_of(const Module& module, const Computation& computation) {
  std::string text = "{";
  for (const Instruction& instruction : computation.instructions) {
    text += signature(module, computation, instruction) + '=' + tensor::to_string(instruction.shape) + '(';
    if (instruction.opcode == Opcode::kParameter) text += '#' + std::to_string(parameter_number(instruction));
    for (const InstructionId operand : instruction.operands) text += std::to_string(operand) + ',';
    text += ')';
  }
  return text + '>' + std::to_string(computation.root) + '}';
}

}  // namespace

std::string signature(const Module& module, const Computation& computation, const Instruction& instruction) {
  std::string text = signature_alone(instruction);
  if (instruction.opcode == Opcode::kWhile || instruction.opcode == Opcode::kConditional) return text;
  for (const ComputationId callee : instruction.called) text += signature_of(module, module.computation(callee));
  // Rules of reductions ask whether the initial value is the reducer's identity.
  if (instruction.opcode == Opcode::kReduce) {
    const Instruction& init = computation[instruction.operands.back()];
    if (init.opcode == Opcode::kConstant) text += init.proto->literal().SerializeAsString();
  }
  return text;
}

std::vector<Alias> input_output_aliases(const Module& module) {
  std::vector<Alias> result;
  if (module.proto == nullptr) return result;
  for (const pb::AliasEntryProto& entry : module.proto->input_output_alias().entries()) {
    require<UnsupportedError>(entry.output_shape_index_size() <= 1 && entry.parameter_shape_index_size() == 0, "hlo",
                              "donation of parameter {} into a nested tuple: give each array a parameter of its own",
                              entry.parameter_number());
    result.push_back({.output = entry.output_shape_index_size() == 1 ? entry.output_shape_index(0) : 0,
                      .parameter = entry.parameter_number()});
  }
  return result;
}

std::vector<int64_t> buffer_donors(const Module& module) {
  std::vector<int64_t> result;
  if (module.proto == nullptr) return result;
  for (const pb::BufferDonorEntryProto& entry : module.proto->buffer_donor().entries())
    result.push_back(entry.parameter_number());
  return result;
}

}  // namespace alpa::hlo
