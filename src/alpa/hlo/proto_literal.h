#pragma once

#include "alpa/hlo/proto/hlo.pb.h"
#include "alpa/tensor/literal.h"

/// Literals to their proto; inside this room.
namespace alpa::hlo {

/// Errors: UnsupportedError for element types below 8 bits.
pb::LiteralProto literal_to_proto(const tensor::Literal& literal);

}  // namespace alpa::hlo
