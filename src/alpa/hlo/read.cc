#include <unordered_map>
#include <unordered_set>

#include "alpa/base/error.h"
#include "alpa/hlo/proto/hlo.pb.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/hlo/proto_module.h"
#include "alpa/hlo/proto_parse.h"
#include "alpa/hlo/proto_shape.h"
#include "alpa/hlo/verify.h"

namespace alpa::hlo {
namespace {

// XLA keys instructions by the low 32 bits inside a computation.
uint32_t local_key(int64_t id) { return static_cast<uint32_t>(id & 0xffffffff); }

using ComputationIds = std::unordered_map<int64_t, ComputationId>;
using InstructionIds = std::unordered_map<uint32_t, InstructionId>;

InstructionId find_operand(const InstructionIds& ids, int64_t id, const pb::HloInstructionProto& user) {
  const auto found = ids.find(local_key(id));
  require<InvalidArgumentError>(found != ids.end(), "hlo", "instruction {}: operand id {} does not come before it",
                                user.name(), id);
  return found->second;
}

Instruction read_instruction(pb::HloInstructionProto&& proto, const InstructionIds& ids, const ComputationIds& comps) {
  Instruction instruction;
  require<InvalidArgumentError>(!proto.name().empty(), "hlo", "an instruction of opcode \"{}\" has no name",
                                proto.opcode());
  const auto opcode = find_opcode(proto.opcode());
  require<InvalidArgumentError>(opcode.has_value(), "hlo",
                                "instruction {}: unknown opcode \"{}\"; is the file from a "
                                "newer XLA?",
                                proto.name(), proto.opcode());
  instruction.opcode = *opcode;
  require<InvalidArgumentError>(proto.has_shape(), "hlo", "instruction {} has no shape", proto.name());
  try {
    instruction.shape = shape_from_proto(proto.shape());
  } catch (const InvalidArgumentError& error) {
    raise<InvalidArgumentError>("hlo", "instruction {}: {}", proto.name(), error.what());
  }
  for (const int64_t id : proto.operand_ids()) instruction.operands.push_back(find_operand(ids, id, proto));
  for (const int64_t id : proto.control_predecessor_ids()) {
    instruction.control_predecessors.push_back(find_operand(ids, id, proto));
  }
  for (const int64_t id : proto.called_computation_ids()) {
    const auto found = comps.find(id);
    require<InvalidArgumentError>(found != comps.end(), "hlo",
                                  "instruction {}: computation id {} does not come before it", proto.name(), id);
    instruction.called.push_back(found->second);
  }
  instruction.proto_id = proto.id();
  instruction.name = proto.name();
  instruction.proto = std::make_shared<pb::HloInstructionProto>(std::move(proto));
  return instruction;
}

Computation read_computation(pb::HloComputationProto&& proto, const ComputationIds& comps,
                             std::unordered_set<std::string>& names) {
  Computation computation;
  computation.name = proto.name();
  computation.proto_id = proto.id();
  InstructionIds ids;
  computation.instructions.reserve(static_cast<size_t>(proto.instructions_size()));
  for (pb::HloInstructionProto& instruction : *proto.mutable_instructions()) {
    const int64_t id = instruction.id();
    computation.instructions.push_back(read_instruction(std::move(instruction), ids, comps));
    const std::string& name = computation.instructions.back().name;
    require<InvalidArgumentError>(names.insert(name).second, "hlo",
                                  "two instructions are named {}: does the file hold two programs?", name);
    require<InvalidArgumentError>(ids.emplace(local_key(id), computation.size() - 1).second, "hlo",
                                  "computation {}: two instructions have the id {}", computation.name, id);
  }
  const auto root = ids.find(local_key(proto.root_id()));
  require<InvalidArgumentError>(root != ids.end(), "hlo", "computation {}: its root id {} is no instruction of it",
                                computation.name, proto.root_id());
  computation.root = root->second;
  proto.clear_instructions();
  computation.proto = std::make_shared<pb::HloComputationProto>(std::move(proto));
  return computation;
}

}  // namespace

Module module_from_proto(pb::HloModuleProto&& proto) {
  require<InvalidArgumentError>(proto.computations_size() > 0, "hlo",
                                "the module has no computations: not an HloModuleProto, or one that was cut short");
  Module module;
  module.name = proto.name();
  ComputationIds comps;
  std::unordered_set<std::string> names;
  module.computations.reserve(static_cast<size_t>(proto.computations_size()));
  for (pb::HloComputationProto& computation : *proto.mutable_computations()) {
    const int64_t id = computation.id();
    module.computations.push_back(read_computation(std::move(computation), comps, names));
    require<InvalidArgumentError>(comps.emplace(id, static_cast<ComputationId>(module.computations.size()) - 1).second,
                                  "hlo", "two computations have the id {}", id);
  }
  const auto entry = comps.find(proto.entry_computation_id());
  require<InvalidArgumentError>(entry != comps.end(), "hlo",
                                "the entry computation id {} is no computation of the module",
                                proto.entry_computation_id());
  module.entry = entry->second;
  proto.clear_computations();
  module.proto = std::make_shared<pb::HloModuleProto>(std::move(proto));
  verify(module);
  return module;
}

Module read_module(std::string_view bytes) {
  pb::HloModuleProto proto;
  require<InvalidArgumentError>(parse_proto(bytes, proto), "hlo",
                                "not a serialized HloModuleProto, or one that was cut short ({} bytes)", bytes.size());
  return module_from_proto(std::move(proto));
}

}  // namespace alpa::hlo
