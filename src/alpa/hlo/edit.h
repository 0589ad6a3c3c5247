#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/module.h"

/// Changes of what lies in an instruction's or a module's proto. The proto is shared between copies, so each makes its
/// own.
namespace alpa::hlo {

/// Gives the instruction this sharding, or none.
void set_sharding(Instruction& instruction, const std::optional<sharding::OpSharding>& sharding);

/// A fresh instruction of `opcode` with no attributes.
Instruction make_instruction(Opcode opcode, std::string name, tensor::Shape shape, std::vector<InstructionId> operands);

Instruction make_constant(std::string name, const tensor::Literal& value);

/// Dim k of the operand becomes dim `dims[k]` of `shape`.
Instruction make_broadcast(std::string name, tensor::Shape shape, InstructionId operand,
                           const std::vector<int64_t>& dims);

/// `direction`: "EQ", "NE", "LT", ...
Instruction make_compare(std::string name, const std::string& direction, const tensor::Shape& operands,
                         InstructionId lhs, InstructionId rhs);

/// Of stride 1, from `starts` on.
Instruction make_slice(std::string name, tensor::Shape shape, InstructionId operand,
                       const std::vector<int64_t>& starts);

/// One start a dim.
Instruction make_dynamic_slice(std::string name, tensor::Shape shape, InstructionId operand,
                               const std::vector<InstructionId>& starts);

/// Dim k of the result is dim `dims[k]` of the operand.
Instruction make_transpose(std::string name, const tensor::Shape& operand_shape, InstructionId operand,
                           const std::vector<int64_t>& dims);

/// A computation of the same name, id and attributes without instructions: the start of a rewrite.
Computation without_instructions(const Computation& computation);

/// A copy whose operands and control predecessors are looked up in `map`, as a rewrite does that keeps their order.
Instruction remapped(const Instruction& instruction, const std::vector<InstructionId>& map);

/// The same operation for other operands: a copy of the attributes, without the id.
Instruction clone(const Instruction& instruction, std::string name, std::vector<InstructionId> operands);

/// Of a convolution.
void set_groups(Instruction& instruction, int64_t feature_groups, int64_t batch_groups);

/// A call of a target of the partitioner's own, "SPMDFullToShardShape" for instance.
Instruction make_custom_call(const std::string& target, std::string name, tensor::Shape shape,
                             std::vector<InstructionId> operands);

/// A call of a typed FFI target that stays although nothing uses it.
Instruction make_effect(const std::string& target, std::string name, tensor::Shape shape);

/// `dimensions` of a transpose, an all-gather, ...
void set_dimensions(Instruction& instruction, const std::vector<int64_t>& dims);
/// Of a slice.
void set_slice_dims(Instruction& instruction, const std::vector<SliceDim>& dims);
Instruction make_parameter(std::string name, const tensor::Shape& shape, int64_t number);
void set_parameter_number(Instruction& instruction, int64_t number);
Instruction make_get_tuple_element(std::string name, tensor::Shape shape, InstructionId tuple, int64_t index);
void set_tuple_index(Instruction& instruction, int64_t index);
void set_op_name(Instruction& instruction, const std::string& op_name);
/// The only text of a front end that the instruction then has.
void set_frontend_attribute(Instruction& instruction, const std::string& key, const std::string& value);

/// Replaces the module's donation entries; it has no buffer donors then.
void set_input_output_aliases(Module& module, const std::vector<Alias>& aliases);

/// Forgets what a partitioner wrote into the module of how its parameters and results lie, and a schedule.
void clear_partitioning(Module& module);

}  // namespace alpa::hlo
