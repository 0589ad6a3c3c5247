#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/module.h"
#include "alpa/hlo/replica_groups.h"

namespace alpa::hlo {

/// Builds one computation, instruction by instruction; shapes are given, attributes typed.
class ComputationBuilder {
 public:
  explicit ComputationBuilder(std::string name) { computation_.name = std::move(name); }

  InstructionId parameter(const tensor::Shape& shape, const std::string& op_name = "");
  InstructionId constant(const tensor::Literal& value);
  /// A scalar constant.
  InstructionId scalar(tensor::DType dtype, double value);
  InstructionId iota(const tensor::Shape& shape, int64_t dim);
  /// An operation without attributes: elementwise, reshape, tuple, copy, ...
  InstructionId op(Opcode opcode, const tensor::Shape& shape, std::vector<InstructionId> operands);
  InstructionId compare(const std::string& direction, InstructionId lhs, InstructionId rhs);
  InstructionId get_tuple_element(InstructionId tuple, int64_t index);
  InstructionId tuple(std::vector<InstructionId> elements);
  /// With `dimensions`: broadcast, transpose, concatenate, reverse, ...; `called` for reduce.
  InstructionId with_dimensions(Opcode opcode, const tensor::Shape& shape, std::vector<InstructionId> operands,
                                const std::vector<int64_t>& dimensions, std::vector<ComputationId> called = {});
  InstructionId dot(const tensor::Shape& shape, InstructionId lhs, InstructionId rhs, const DotDims& dims);
  InstructionId convolution(const tensor::Shape& shape, InstructionId input, InstructionId kernel,
                            const std::vector<WindowDim>& window, const ConvolutionDims& dims);
  InstructionId gather(const tensor::Shape& shape, InstructionId table, InstructionId indices, const GatherDims& dims);
  InstructionId scatter(InstructionId table, InstructionId indices, InstructionId updates, const ScatterDims& dims,
                        ComputationId combiner);
  InstructionId slice(const tensor::Shape& shape, InstructionId operand, const std::vector<SliceDim>& dims);
  InstructionId dynamic_slice(const tensor::Shape& shape, std::vector<InstructionId> operands);
  InstructionId pad(const tensor::Shape& shape, InstructionId operand, InstructionId value,
                    const std::vector<PadDim>& dims);
  /// reduce-window (called: reducer) and select-and-scatter (called: select, scatter).
  InstructionId windowed(Opcode opcode, const tensor::Shape& shape, std::vector<InstructionId> operands,
                         const std::vector<WindowDim>& window, std::vector<ComputationId> called);
  /// The operands together by the comparator's order; equal elements keep theirs.
  InstructionId stable_sort(const tensor::Shape& shape, std::vector<InstructionId> operands, int64_t dim,
                            ComputationId comparator);
  InstructionId rng_bit_generator(const tensor::Shape& shape, InstructionId state);
  /// while (called: body, condition), conditional (called: branches), call, map.
  InstructionId calling(Opcode opcode, const tensor::Shape& shape, std::vector<InstructionId> operands,
                        std::vector<ComputationId> called);
  InstructionId custom_call(const tensor::Shape& shape, std::vector<InstructionId> operands, const std::string& target,
                            const std::string& backend_config = {});
  /// Among the partitions of each group, on a channel of its own; `dim` of all but the all-reduce.
  InstructionId collective(Opcode opcode, const tensor::Shape& shape, std::vector<InstructionId> operands,
                           const ReplicaGroups& groups, std::optional<int64_t> dim = std::nullopt,
                           std::optional<ComputationId> reducer = std::nullopt);
  InstructionId triangular_solve(InstructionId a, InstructionId b);
  InstructionId cholesky(InstructionId a);

  /// Path of the value in the user's program for the instructions to come, "h00/attention/dot_general"; empty: none.
  void set_op_name(std::string op_name) { op_name_ = std::move(op_name); }
  const tensor::Shape& shape(InstructionId id) const { return computation_[id].shape; }
  Computation build(InstructionId root) &&;

 private:
  InstructionId add(Instruction instruction);
  std::string next_name(Opcode opcode);

  Computation computation_;
  int64_t parameters_ = 0;
  int64_t channels_ = 0;
  std::string op_name_;
};

/// Builds a module: callees first, the entry last.
class ModuleBuilder {
 public:
  explicit ModuleBuilder(std::string name) { module_.name = std::move(name); }
  ComputationId add(Computation computation);
  int64_t num_computations() const { return static_cast<int64_t>(module_.computations.size()); }
  /// A reducer: one binary operation of two scalars.
  ComputationId reducer(Opcode opcode, tensor::DType dtype);
  /// Adds the entry and hands the module out, names made unique. Errors: as `verify`.
  Module build(Computation entry) &&;

 private:
  Module module_;
};

}  // namespace alpa::hlo
