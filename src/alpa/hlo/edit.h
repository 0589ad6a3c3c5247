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

Instruction make_parameter(std::string name, const tensor::Shape& shape, int64_t number);
void set_parameter_number(Instruction& instruction, int64_t number);
Instruction make_get_tuple_element(std::string name, tensor::Shape shape, InstructionId tuple, int64_t index);
void set_tuple_index(Instruction& instruction, int64_t index);
void set_op_name(Instruction& instruction, const std::string& op_name);

/// Replaces the module's donation entries; it has no buffer donors then.
void set_input_output_aliases(Module& module, const std::vector<Alias>& aliases);

}  // namespace alpa::hlo
