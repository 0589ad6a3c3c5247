#pragma once

#include "alpa/hlo/proto/hlo.pb.h"
#include "alpa/sharding/op_sharding.h"

/// OpSharding to and from its proto; inside this room.
namespace alpa::hlo {

sharding::OpSharding sharding_from_proto(const pb::OpSharding& proto);
pb::OpSharding sharding_to_proto(const sharding::OpSharding& sharding);

}  // namespace alpa::hlo
