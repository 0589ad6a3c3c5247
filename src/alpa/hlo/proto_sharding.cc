#include "alpa/hlo/proto_sharding.h"

namespace alpa::hlo {

sharding::OpSharding sharding_from_proto(const pb::OpSharding& proto) {
  sharding::OpSharding result;
  result.type = static_cast<sharding::OpSharding::Type>(proto.type());
  result.tile_dims.assign(proto.tile_assignment_dimensions().begin(), proto.tile_assignment_dimensions().end());
  result.devices.assign(proto.tile_assignment_devices().begin(), proto.tile_assignment_devices().end());
  result.iota_reshape.assign(proto.iota_reshape_dims().begin(), proto.iota_reshape_dims().end());
  result.iota_perm.assign(proto.iota_transpose_perm().begin(), proto.iota_transpose_perm().end());
  result.replicate_on_last_tile_dim = proto.replicate_on_last_tile_dim();
  for (const int type : proto.last_tile_dims()) {
    result.last_tile_dims.push_back(static_cast<sharding::OpSharding::Type>(type));
  }
  for (const pb::OpSharding& element : proto.tuple_shardings()) result.elements.push_back(sharding_from_proto(element));
  return result;
}

pb::OpSharding sharding_to_proto(const sharding::OpSharding& sharding) {
  pb::OpSharding proto;
  proto.set_type(static_cast<int>(sharding.type));
  proto.mutable_tile_assignment_dimensions()->Add(sharding.tile_dims.begin(), sharding.tile_dims.end());
  proto.mutable_tile_assignment_devices()->Add(sharding.devices.begin(), sharding.devices.end());
  proto.mutable_iota_reshape_dims()->Add(sharding.iota_reshape.begin(), sharding.iota_reshape.end());
  proto.mutable_iota_transpose_perm()->Add(sharding.iota_perm.begin(), sharding.iota_perm.end());
  proto.set_replicate_on_last_tile_dim(sharding.replicate_on_last_tile_dim);
  for (const auto type : sharding.last_tile_dims) proto.add_last_tile_dims(static_cast<int>(type));
  for (const auto& element : sharding.elements) *proto.add_tuple_shardings() = sharding_to_proto(element);
  return proto;
}

}  // namespace alpa::hlo
