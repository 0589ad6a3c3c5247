#pragma once

#include "alpa/hlo/proto/hlo.pb.h"
#include "alpa/tensor/shape.h"

/// Shapes to and from their protos; inside this room.
namespace alpa::hlo {

/// Errors: InvalidArgumentError if the element type is unknown or a dim negative.
tensor::Shape shape_from_proto(const pb::ShapeProto& proto);

/// With the default layout (descending minor_to_major), as plug-ins demand.
pb::ShapeProto shape_to_proto(const tensor::Shape& shape);

}  // namespace alpa::hlo
