#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "alpa/hlo/opcode.h"
#include "alpa/tensor/shape.h"

namespace alpa::pb {
class HloInstructionProto;
class HloComputationProto;
class HloModuleProto;
}  // namespace alpa::pb

namespace alpa::hlo {

using InstructionId = int32_t;  ///< Index into Computation::instructions.
using ComputationId = int32_t;  ///< Index into Module::computations.

/// Written ids are kept where they are set; the writer numbers the others.
inline constexpr int64_t kUnnumbered = -1;

/// One operation. Opcode, shape and edges are typed here; all else (attributes, metadata, fields unknown to us) lies in
/// `proto`, is shared between copies and is read through attributes.h and changed through edit.h.
struct Instruction {
  Opcode opcode = Opcode::kParameter;
  std::string name;
  tensor::Shape shape;
  std::vector<InstructionId> operands;
  std::vector<ComputationId> called;
  std::vector<InstructionId> control_predecessors;
  int64_t proto_id = kUnnumbered;
  std::shared_ptr<const pb::HloInstructionProto> proto;
};

/// Instructions in an order where operands come before their uses.
struct Computation {
  std::string name;
  std::vector<Instruction> instructions;
  InstructionId root = 0;
  int64_t proto_id = kUnnumbered;
  std::shared_ptr<const pb::HloComputationProto> proto;  ///< Without instructions.

  const Instruction& operator[](InstructionId id) const { return instructions[static_cast<size_t>(id)]; }
  Instruction& operator[](InstructionId id) { return instructions[static_cast<size_t>(id)]; }
  int32_t size() const { return static_cast<int32_t>(instructions.size()); }
};

/// A program: computations in an order where callees come before their callers.
struct Module {
  std::string name;
  std::vector<Computation> computations;
  ComputationId entry = 0;
  std::shared_ptr<const pb::HloModuleProto> proto;  ///< Without computations.

  const Computation& entry_computation() const { return computations[static_cast<size_t>(entry)]; }
  Computation& entry_computation() { return computations[static_cast<size_t>(entry)]; }
  const Computation& computation(ComputationId id) const { return computations[static_cast<size_t>(id)]; }
};

/// The entry's parameters by number: instruction ids.
std::vector<InstructionId> parameters(const Computation& computation);

/// Instructions of all computations.
int64_t instruction_count(const Module& module);

}  // namespace alpa::hlo
