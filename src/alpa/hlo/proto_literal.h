#pragma once

#include <optional>

#include "alpa/hlo/proto/hlo.pb.h"
#include "alpa/tensor/literal.h"

/// Literals to and from their proto; inside this room.
namespace alpa::hlo {

/// Errors: UnsupportedError for element types below 8 bits.
pb::LiteralProto literal_to_proto(const tensor::Literal& literal);

/// Nothing for tuples, tokens and element types below 8 bits, and if the elements are not as many as the shape has.
std::optional<tensor::Literal> literal_from_proto(const pb::LiteralProto& proto, const tensor::Shape& shape);

}  // namespace alpa::hlo
