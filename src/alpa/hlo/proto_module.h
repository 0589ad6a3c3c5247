#pragma once

#include "alpa/hlo/module.h"
#include "alpa/hlo/proto/hlo.pb.h"

/// Modules to and from their protos; inside this room.
namespace alpa::hlo {

/// Errors: as read_module, but for what parsing itself finds.
Module module_from_proto(pb::HloModuleProto&& proto);

pb::HloModuleProto module_to_proto(const Module& module);

/// The signature of a computation as its instructions give it.
pb::ProgramShapeProto derived_program_shape(const pb::HloComputationProto& computation);

}  // namespace alpa::hlo
