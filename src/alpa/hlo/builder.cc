#include "alpa/hlo/builder.h"

#include <fmt/format.h>

#include "alpa/base/error.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/proto/hlo.pb.h"
#include "alpa/hlo/proto_literal.h"
#include "alpa/hlo/proto_shape.h"
#include "alpa/hlo/verify.h"

namespace alpa::hlo {
namespace {

template <typename Field>
void assign(Field* field, const std::vector<int64_t>& values) {
  field->Assign(values.begin(), values.end());
}

Instruction make(Opcode opcode, const tensor::Shape& shape, std::vector<InstructionId> operands,
                 const std::function<void(pb::HloInstructionProto&)>& fill) {
  Instruction instruction = make_instruction(opcode, "", shape, std::move(operands));
  auto proto = std::make_shared<pb::HloInstructionProto>();
  fill(*proto);
  instruction.proto = std::move(proto);
  return instruction;
}

void fill_window(pb::Window& window, const std::vector<WindowDim>& dims) {
  for (const WindowDim& dim : dims) {
    pb::WindowDimension* proto = window.add_dimensions();
    proto->set_size(dim.size);
    proto->set_stride(dim.stride);
    proto->set_padding_low(dim.padding_low);
    proto->set_padding_high(dim.padding_high);
    proto->set_window_dilation(dim.window_dilation);
    proto->set_base_dilation(dim.base_dilation);
    proto->set_window_reversal(dim.reversal);
  }
}

}  // namespace

std::string ComputationBuilder::next_name(Opcode opcode) {
  return fmt::format("{}.{}.{}", name(opcode), computation_.name, computation_.size());
}

InstructionId ComputationBuilder::add(Instruction instruction) {
  instruction.name = next_name(instruction.opcode);
  if (!op_name_.empty() && instruction.opcode != Opcode::kParameter) hlo::set_op_name(instruction, op_name_);
  computation_.instructions.push_back(std::move(instruction));
  return computation_.size() - 1;
}

InstructionId ComputationBuilder::parameter(const tensor::Shape& shape, const std::string& op_name) {
  return add(make(Opcode::kParameter, shape, {}, [&](pb::HloInstructionProto& proto) {
    proto.set_parameter_number(parameters_++);
    if (!op_name.empty()) proto.mutable_metadata()->set_op_name(op_name);
  }));
}

InstructionId ComputationBuilder::constant(const tensor::Literal& value) {
  return add(make(Opcode::kConstant, value.shape(), {},
                  [&](pb::HloInstructionProto& proto) { *proto.mutable_literal() = literal_to_proto(value); }));
}

InstructionId ComputationBuilder::scalar(tensor::DType dtype, double value) {
  tensor::Literal literal(tensor::Shape(dtype, {}));
  literal.set(0, value);
  return constant(literal);
}

InstructionId ComputationBuilder::iota(const tensor::Shape& shape, int64_t dim) {
  return with_dimensions(Opcode::kIota, shape, {}, {dim});
}

InstructionId ComputationBuilder::op(Opcode opcode, const tensor::Shape& shape, std::vector<InstructionId> operands) {
  return add(make_instruction(opcode, "", shape, std::move(operands)));
}

InstructionId ComputationBuilder::compare(const std::string& direction, InstructionId lhs, InstructionId rhs) {
  return add(make(Opcode::kCompare, tensor::Shape(tensor::DType::kPred, shape(lhs).dims), {lhs, rhs},
                  [&](pb::HloInstructionProto& proto) { proto.set_comparison_direction(direction); }));
}

InstructionId ComputationBuilder::get_tuple_element(InstructionId tuple, int64_t index) {
  return add(make(Opcode::kGetTupleElement, shape(tuple).elements.at(static_cast<size_t>(index)), {tuple},
                  [&](pb::HloInstructionProto& proto) { proto.set_tuple_index(index); }));
}

InstructionId ComputationBuilder::tuple(std::vector<InstructionId> elements) {
  std::vector<tensor::Shape> shapes;
  for (const InstructionId element : elements) shapes.push_back(shape(element));
  return op(Opcode::kTuple, tensor::Shape::tuple(std::move(shapes)), std::move(elements));
}

InstructionId ComputationBuilder::with_dimensions(Opcode opcode, const tensor::Shape& shape,
                                                  std::vector<InstructionId> operands,
                                                  const std::vector<int64_t>& dimensions,
                                                  std::vector<ComputationId> called) {
  Instruction instruction = make(opcode, shape, std::move(operands), [&](pb::HloInstructionProto& proto) {
    assign(proto.mutable_dimensions(), dimensions);
  });
  instruction.called = std::move(called);
  return add(std::move(instruction));
}

InstructionId ComputationBuilder::dot(const tensor::Shape& shape, InstructionId lhs, InstructionId rhs,
                                      const DotDims& dims) {
  return add(make(Opcode::kDot, shape, {lhs, rhs}, [&](pb::HloInstructionProto& proto) {
    auto* numbers = proto.mutable_dot_dimension_numbers();
    assign(numbers->mutable_lhs_contracting_dimensions(), dims.lhs_contracting);
    assign(numbers->mutable_rhs_contracting_dimensions(), dims.rhs_contracting);
    assign(numbers->mutable_lhs_batch_dimensions(), dims.lhs_batch);
    assign(numbers->mutable_rhs_batch_dimensions(), dims.rhs_batch);
  }));
}

InstructionId ComputationBuilder::convolution(const tensor::Shape& shape, InstructionId input, InstructionId kernel,
                                              const std::vector<WindowDim>& window, const ConvolutionDims& dims) {
  return add(make(Opcode::kConvolution, shape, {input, kernel}, [&](pb::HloInstructionProto& proto) {
    fill_window(*proto.mutable_window(), window);
    auto* numbers = proto.mutable_convolution_dimension_numbers();
    numbers->set_input_batch_dimension(dims.input_batch);
    numbers->set_input_feature_dimension(dims.input_feature);
    numbers->set_kernel_input_feature_dimension(dims.kernel_input_feature);
    numbers->set_kernel_output_feature_dimension(dims.kernel_output_feature);
    numbers->set_output_batch_dimension(dims.output_batch);
    numbers->set_output_feature_dimension(dims.output_feature);
    assign(numbers->mutable_input_spatial_dimensions(), dims.input_spatial);
    assign(numbers->mutable_kernel_spatial_dimensions(), dims.kernel_spatial);
    assign(numbers->mutable_output_spatial_dimensions(), dims.output_spatial);
    proto.set_feature_group_count(dims.feature_groups);
    proto.set_batch_group_count(dims.batch_groups);
  }));
}

InstructionId ComputationBuilder::gather(const tensor::Shape& shape, InstructionId table, InstructionId indices,
                                         const GatherDims& dims) {
  return add(make(Opcode::kGather, shape, {table, indices}, [&](pb::HloInstructionProto& proto) {
    auto* numbers = proto.mutable_gather_dimension_numbers();
    assign(numbers->mutable_offset_dims(), dims.offset);
    assign(numbers->mutable_collapsed_slice_dims(), dims.collapsed);
    assign(numbers->mutable_start_index_map(), dims.start_index_map);
    assign(numbers->mutable_operand_batching_dims(), dims.operand_batching);
    assign(numbers->mutable_start_indices_batching_dims(), dims.indices_batching);
    numbers->set_index_vector_dim(dims.index_vector_dim);
    assign(proto.mutable_gather_slice_sizes(), dims.slice_sizes);
  }));
}

InstructionId ComputationBuilder::scatter(InstructionId table, InstructionId indices, InstructionId updates,
                                          const ScatterDims& dims, ComputationId combiner) {
  Instruction instruction =
      make(Opcode::kScatter, shape(table), {table, indices, updates}, [&](pb::HloInstructionProto& proto) {
        auto* numbers = proto.mutable_scatter_dimension_numbers();
        assign(numbers->mutable_update_window_dims(), dims.update_window);
        assign(numbers->mutable_inserted_window_dims(), dims.inserted_window);
        assign(numbers->mutable_scatter_dims_to_operand_dims(), dims.scatter_to_operand);
        assign(numbers->mutable_input_batching_dims(), dims.input_batching);
        assign(numbers->mutable_scatter_indices_batching_dims(), dims.indices_batching);
        numbers->set_index_vector_dim(dims.index_vector_dim);
      });
  instruction.called = {combiner};
  return add(std::move(instruction));
}

InstructionId ComputationBuilder::slice(const tensor::Shape& shape, InstructionId operand,
                                        const std::vector<SliceDim>& dims) {
  return add(make(Opcode::kSlice, shape, {operand}, [&](pb::HloInstructionProto& proto) {
    for (const SliceDim& dim : dims) {
      pb::SliceDimensions* one = proto.add_slice_dimensions();
      one->set_start(dim.start);
      one->set_limit(dim.limit);
      one->set_stride(dim.stride);
    }
  }));
}

InstructionId ComputationBuilder::dynamic_slice(const tensor::Shape& shape, std::vector<InstructionId> operands) {
  return add(make(Opcode::kDynamicSlice, shape, std::move(operands),
                  [&](pb::HloInstructionProto& proto) { assign(proto.mutable_dynamic_slice_sizes(), shape.dims); }));
}

InstructionId ComputationBuilder::pad(const tensor::Shape& shape, InstructionId operand, InstructionId value,
                                      const std::vector<PadDim>& dims) {
  return add(make(Opcode::kPad, shape, {operand, value}, [&](pb::HloInstructionProto& proto) {
    for (const PadDim& dim : dims) {
      pb::PaddingConfigDimension* one = proto.mutable_padding_config()->add_dimensions();
      one->set_edge_padding_low(dim.low);
      one->set_edge_padding_high(dim.high);
      one->set_interior_padding(dim.interior);
    }
  }));
}

InstructionId ComputationBuilder::windowed(Opcode opcode, const tensor::Shape& shape,
                                           std::vector<InstructionId> operands, const std::vector<WindowDim>& window,
                                           std::vector<ComputationId> called) {
  Instruction instruction = make(opcode, shape, std::move(operands),
                                 [&](pb::HloInstructionProto& proto) { fill_window(*proto.mutable_window(), window); });
  instruction.called = std::move(called);
  return add(std::move(instruction));
}

InstructionId ComputationBuilder::stable_sort(const tensor::Shape& shape, std::vector<InstructionId> operands,
                                              int64_t dim, ComputationId comparator) {
  Instruction instruction = make(Opcode::kSort, shape, std::move(operands), [&](pb::HloInstructionProto& proto) {
    proto.add_dimensions(dim);
    proto.set_is_stable(true);
  });
  instruction.called = {comparator};
  return add(std::move(instruction));
}

InstructionId ComputationBuilder::rng_bit_generator(const tensor::Shape& shape, InstructionId state) {
  return add(make(Opcode::kRngBitGenerator, shape, {state}, [](pb::HloInstructionProto&) {}));
}

InstructionId ComputationBuilder::calling(Opcode opcode, const tensor::Shape& shape,
                                          std::vector<InstructionId> operands, std::vector<ComputationId> called) {
  Instruction instruction = make_instruction(opcode, "", shape, std::move(operands));
  instruction.called = std::move(called);
  return add(std::move(instruction));
}

InstructionId ComputationBuilder::custom_call(const tensor::Shape& shape, std::vector<InstructionId> operands,
                                              const std::string& target, const std::string& backend_config) {
  return add(make(Opcode::kCustomCall, shape, std::move(operands), [&](pb::HloInstructionProto& proto) {
    proto.set_custom_call_target(target);
    proto.set_custom_call_api_version(4);
    if (!backend_config.empty()) proto.set_backend_config(backend_config);
  }));
}

InstructionId ComputationBuilder::collective(Opcode opcode, const tensor::Shape& shape,
                                             std::vector<InstructionId> operands, const ReplicaGroups& groups,
                                             std::optional<int64_t> dim, std::optional<ComputationId> reducer) {
  Instruction instruction = make_instruction(opcode, "", shape, std::move(operands));
  set_channel_id(instruction, ++channels_);
  set_replica_groups(instruction, groups);
  if (dim) set_dimensions(instruction, {*dim});
  if (reducer) instruction.called = {*reducer};
  return add(std::move(instruction));
}

InstructionId ComputationBuilder::triangular_solve(InstructionId a, InstructionId b) {
  return add(make(Opcode::kTriangularSolve, shape(b), {a, b}, [](pb::HloInstructionProto& proto) {
    auto* options = proto.mutable_triangular_solve_options();
    options->set_left_side(true);
    options->set_lower(true);
    options->set_transpose_a(1);  // NO_TRANSPOSE
  }));
}

InstructionId ComputationBuilder::cholesky(InstructionId a) {
  return add(make(Opcode::kCholesky, shape(a), {a},
                  [](pb::HloInstructionProto& proto) { proto.mutable_cholesky_options()->set_lower(true); }));
}

Computation ComputationBuilder::build(InstructionId root) && {
  computation_.root = root;
  return std::move(computation_);
}

ComputationId ModuleBuilder::add(Computation computation) {
  module_.computations.push_back(std::move(computation));
  return static_cast<ComputationId>(module_.computations.size()) - 1;
}

ComputationId ModuleBuilder::reducer(Opcode opcode, tensor::DType dtype) {
  ComputationBuilder builder(
      fmt::format("reducer_{}_{}_{}", name(opcode), tensor::name(dtype), module_.computations.size()));
  const tensor::Shape scalar(dtype, {});
  const InstructionId lhs = builder.parameter(scalar);
  const InstructionId rhs = builder.parameter(scalar);
  const InstructionId root = builder.op(opcode, scalar, {lhs, rhs});
  return add(std::move(builder).build(root));
}

Module ModuleBuilder::build(Computation entry) && {
  module_.entry = add(std::move(entry));
  verify(module_);
  return std::move(module_);
}

}  // namespace alpa::hlo
