#include "alpa/hlo/replica_groups.h"

#include <numeric>

#include "alpa/base/error.h"
#include "alpa/hlo/edit_proto.h"
#include "alpa/hlo/proto/hlo.pb.h"

namespace alpa::hlo {
namespace {

using Ids = std::vector<int64_t>;

// Stops where the product is beyond `most`.
int64_t product(const Ids& sizes, int64_t most) {
  int64_t result = 1;
  for (const int64_t size : sizes) {
    if (result <= most) result *= size;
  }
  return result;
}

bool is_permutation(const Ids& numbers) {
  std::vector<bool> seen(numbers.size(), false);
  for (const int64_t number : numbers) {
    if (number < 0 || number >= static_cast<int64_t>(numbers.size()) || seen[static_cast<size_t>(number)]) return false;
    seen[static_cast<size_t>(number)] = true;
  }
  return true;
}

// values, laid out row-major by `sizes`, with dim k of the result being dim perm[k].
std::optional<Ids> transposed(const Ids& values, const Ids& sizes, const Ids& perm) {
  const auto count = static_cast<int64_t>(values.size());
  for (const int64_t size : sizes) {
    if (size < 1 || size > count) return std::nullopt;
  }
  if (perm.size() != sizes.size() || !is_permutation(perm) || product(sizes, count) != count) return std::nullopt;
  Ids strides(sizes.size(), 1);
  for (size_t dim = sizes.size(); dim-- > 1;) strides[dim - 1] = strides[dim] * sizes[dim];
  Ids result;
  Ids index(sizes.size(), 0);
  for (size_t k = 0; k < values.size(); ++k) {
    int64_t from = 0;
    for (size_t dim = 0; dim < perm.size(); ++dim) from += index[dim] * strides[static_cast<size_t>(perm[dim])];
    result.push_back(values[static_cast<size_t>(from)]);
    for (size_t dim = perm.size(); dim-- > 0;) {
      if (++index[dim] < sizes[static_cast<size_t>(perm[dim])]) break;
      index[dim] = 0;
    }
  }
  return result;
}

Ids iota(int64_t count) {
  Ids result(static_cast<size_t>(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

// Without dims the iota is flat; without a permutation it is not transposed.
template <typename Dims, typename Perm>
std::optional<Ids> iota_ids(int64_t count, const Dims& reshape_dims, const Perm& transpose_perm) {
  Ids sizes(reshape_dims.begin(), reshape_dims.end());
  Ids perm(transpose_perm.begin(), transpose_perm.end());
  if (sizes.empty()) sizes = {count};
  if (perm.empty()) perm = iota(static_cast<int64_t>(sizes.size()));
  return transposed(iota(count), sizes, perm);
}

std::optional<ReplicaGroups> cut(const std::optional<Ids>& ids, int64_t per_group) {
  if (!ids || per_group < 1) return std::nullopt;
  ReplicaGroups groups;
  for (size_t k = 0; k < ids->size(); ++k) {
    if (k % static_cast<size_t>(per_group) == 0) groups.emplace_back();
    groups.back().push_back((*ids)[k]);
  }
  return groups;
}

std::optional<ReplicaGroups> groups_of(const pb::IotaReplicaGroupListProto& list, int64_t num_devices) {
  const int64_t per_group = list.num_devices_per_group();
  if (per_group < 1 || per_group > num_devices || num_devices % per_group != 0 ||
      list.num_replica_groups() != num_devices / per_group)
    return std::nullopt;
  return cut(iota_ids(num_devices, list.iota_reshape_dims(), list.iota_transpose_perm()), per_group);
}

template <typename Lists>
ReplicaGroups groups_of(const Lists& lists) {
  ReplicaGroups groups;
  for (const pb::ReplicaGroup& group : lists)
    groups.emplace_back(group.replica_ids().begin(), group.replica_ids().end());
  return groups;
}

std::optional<Ids> mesh_devices(const pb::MeshProto& mesh, int64_t num_devices) {
  if (mesh.device_ids_size() > 0) return Ids(mesh.device_ids().begin(), mesh.device_ids().end());
  return iota_ids(num_devices, mesh.iota_transform().reshape_dims(), mesh.iota_transform().transpose_perm());
}

// An axis or, where only a part of it is meant, the parts before, of and after it: sizes that multiply to the axis's.
// A reference takes part `middle` of them.
struct AxisParts {
  Ids sizes;
  size_t middle = 0;
};

std::optional<AxisParts> parts_of(const pb::AxisRefProto& axis, int64_t size) {
  if (!axis.has_sub_axis_info()) return AxisParts{{size}, 0};
  const int64_t before = axis.sub_axis_info().pre_size();
  const int64_t middle = axis.sub_axis_info().size();
  if (before < 1 || middle < 1 || size % before != 0 || (size / before) % middle != 0) return std::nullopt;
  return AxisParts{{before, middle, size / before / middle}, 1};
}

// The mesh's axes, row-major, those that the groups run over moved to the end in the order in which they are named.
std::optional<ReplicaGroups> groups_of(const pb::MeshAxesReplicaGroupListProto& list, int64_t num_devices) {
  std::vector<std::optional<AxisParts>> parts(static_cast<size_t>(list.mesh().axes_size()));
  for (const pb::AxisRefProto& axis : list.axes()) {
    const int64_t index = axis.mesh_axis_index();
    // An axis of which two parts are named is not met and not read.
    if (index < 0 || index >= list.mesh().axes_size() || parts[static_cast<size_t>(index)]) return std::nullopt;
    parts[static_cast<size_t>(index)] = parts_of(axis, list.mesh().axes(static_cast<int>(index)).size());
    if (!parts[static_cast<size_t>(index)]) return std::nullopt;
  }
  Ids sizes;
  Ids perm;
  std::vector<int64_t> named(parts.size(), -1);
  for (size_t axis = 0; axis < parts.size(); ++axis) {
    const AxisParts whole{{list.mesh().axes(static_cast<int>(axis)).size()}, 0};
    const AxisParts& one = parts[axis] ? *parts[axis] : whole;
    for (size_t k = 0; k < one.sizes.size(); ++k) {
      const auto dim = static_cast<int64_t>(sizes.size());
      sizes.push_back(one.sizes[k]);
      if (parts[axis] && k == one.middle) {
        named[axis] = dim;
      } else {
        perm.push_back(dim);
      }
    }
  }
  int64_t per_group = 1;
  for (const pb::AxisRefProto& axis : list.axes()) {
    perm.push_back(named[static_cast<size_t>(axis.mesh_axis_index())]);
    per_group *= sizes[static_cast<size_t>(perm.back())];
  }
  const auto devices = mesh_devices(list.mesh(), num_devices);
  if (!devices || static_cast<int64_t>(devices->size()) != num_devices) return std::nullopt;
  return cut(transposed(*devices, sizes, perm), per_group);
}

std::optional<ReplicaGroups> written_groups(const pb::HloInstructionProto& proto, int64_t num_devices) {
  if (proto.has_mesh_axes_replica_group_list()) return groups_of(proto.mesh_axes_replica_group_list(), num_devices);
  if (proto.has_iota_collective_device_list()) return groups_of(proto.iota_collective_device_list(), num_devices);
  if (proto.has_collective_device_list()) {
    const pb::CollectiveDeviceListProto& list = proto.collective_device_list();
    if (list.has_iota_replica_group_list()) return groups_of(list.iota_replica_group_list(), num_devices);
    if (list.replica_groups_size() > 0) return groups_of(list.replica_groups());
  }
  return groups_of(proto.replica_groups());
}

bool covers(const ReplicaGroups& groups, int64_t num_devices) {
  Ids all;
  for (const auto& group : groups) {
    if (group.size() != groups.front().size()) return false;
    all.insert(all.end(), group.begin(), group.end());
  }
  return static_cast<int64_t>(all.size()) == num_devices && is_permutation(all);
}

}  // namespace

std::optional<ReplicaGroups> replica_groups(const Instruction& collective, int64_t num_devices) {
  ALPA_CHECK(collective.proto != nullptr);
  const pb::HloInstructionProto& proto = *collective.proto;
  // Without a channel the groups are of replicas, of which there is one.
  if (proto.channel_id() == 0) return std::nullopt;
  auto groups = written_groups(proto, num_devices);
  if (!groups) return std::nullopt;
  const bool of_replicas = may_have_global_ids(collective.opcode) && !proto.use_global_device_ids();
  const bool everyone = groups->empty() || (of_replicas && *groups == ReplicaGroups{{0}});
  if (everyone) return ReplicaGroups{iota(num_devices)};
  if (of_replicas || !covers(*groups, num_devices)) return std::nullopt;
  return groups;
}

void set_replica_groups(Instruction& collective, const ReplicaGroups& groups) {
  ALPA_CHECK(channel_id(collective) != 0);
  change_proto(collective, [&](pb::HloInstructionProto& proto) {
    proto.clear_collective_device_list();
    proto.clear_iota_collective_device_list();
    proto.clear_mesh_axes_replica_group_list();
    proto.clear_replica_groups();
    for (const Ids& group : groups) {
      pb::ReplicaGroup* one = proto.add_replica_groups();
      one->mutable_replica_ids()->Assign(group.begin(), group.end());
    }
    if (may_have_global_ids(collective.opcode)) proto.set_use_global_device_ids(true);
  });
}

int64_t channel_id(const Instruction& collective) { return collective.proto->channel_id(); }

void set_channel_id(Instruction& collective, int64_t channel) {
  change_proto(collective, [&](pb::HloInstructionProto& proto) { proto.set_channel_id(channel); });
}

void clear_channel(Instruction& collective) {
  change_proto(collective, [](pb::HloInstructionProto& proto) {
    proto.set_channel_id(0);
    proto.set_use_global_device_ids(false);
  });
}

bool may_have_global_ids(Opcode opcode) {
  return opcode == Opcode::kAllReduce || opcode == Opcode::kAllGather || opcode == Opcode::kReduceScatter;
}

bool has_global_ids(const Instruction& collective) { return collective.proto->use_global_device_ids(); }

std::vector<std::pair<int64_t, int64_t>> source_target_pairs(const Instruction& permute) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const pb::SourceTarget& pair : permute.proto->source_target_pairs())
    pairs.emplace_back(pair.source(), pair.target());
  return pairs;
}

}  // namespace alpa::hlo
