#pragma once

#include <memory>
#include <utility>

#include "alpa/hlo/module.h"
#include "alpa/hlo/proto/hlo.pb.h"

/// Changes of an instruction's proto; inside this room.
namespace alpa::hlo {

/// The proto is shared between copies: `change` gets one that is the instruction's own.
template <typename Change>
void change_proto(Instruction& instruction, Change change) {
  auto copy = instruction.proto == nullptr ? std::make_shared<pb::HloInstructionProto>()
                                           : std::make_shared<pb::HloInstructionProto>(*instruction.proto);
  change(*copy);
  instruction.proto = std::move(copy);
}

}  // namespace alpa::hlo
