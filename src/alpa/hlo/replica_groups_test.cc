#include "alpa/hlo/replica_groups.h"

#include <gtest/gtest.h>

#include "alpa/hlo/edit_proto.h"
#include "alpa/hlo/testing/programs.h"

namespace alpa::hlo {
namespace {

template <typename Change>
Instruction all_reduce(Change change) {
  Instruction one;
  one.opcode = Opcode::kAllReduce;
  change_proto(one, [&](pb::HloInstructionProto& proto) {
    proto.set_channel_id(1);
    proto.set_use_global_device_ids(true);
    change(proto);
  });
  return one;
}

void add_axis(pb::MeshAxesReplicaGroupListProto& list, int64_t size) {
  list.mutable_mesh()->add_axes()->set_size(size);
}

const ReplicaGroups kRows = {{0, 1, 2, 3}, {4, 5, 6, 7}};
const ReplicaGroups kColumns = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};

TEST(ReplicaGroups, ReadsLists) {
  const auto fill = [](auto* groups, const ReplicaGroups& wanted) {
    for (const auto& group : wanted) groups->Add()->mutable_replica_ids()->Assign(group.begin(), group.end());
  };
  EXPECT_EQ(replica_groups(all_reduce([&](auto& proto) { fill(proto.mutable_replica_groups(), kColumns); }), 8),
            kColumns);
  EXPECT_EQ(replica_groups(all_reduce([&](auto& proto) {
                             fill(proto.mutable_collective_device_list()->mutable_replica_groups(), kRows);
                           }),
                           8),
            kRows);
}

TEST(ReplicaGroups, ReadsIotasInBothFields) {
  const auto fill = [](pb::IotaReplicaGroupListProto& list) {
    list.set_num_replica_groups(4);
    list.set_num_devices_per_group(2);
    for (const int64_t dim : {2, 4}) list.add_iota_reshape_dims(dim);
    for (const int32_t dim : {1, 0}) list.add_iota_transpose_perm(dim);
  };
  EXPECT_EQ(replica_groups(all_reduce([&](auto& proto) {
                             fill(*proto.mutable_collective_device_list()->mutable_iota_replica_group_list());
                           }),
                           8),
            kColumns);
  EXPECT_EQ(replica_groups(all_reduce([&](auto& proto) { fill(*proto.mutable_iota_collective_device_list()); }), 8),
            kColumns);
}

TEST(ReplicaGroups, ReadsAxesOfAMeshInTheirOrder) {
  const auto groups = [](const std::vector<int64_t>& axes, const std::vector<int64_t>& devices = {}) {
    return replica_groups(all_reduce([&](auto& proto) {
                            auto& list = *proto.mutable_mesh_axes_replica_group_list();
                            add_axis(list, 2);
                            add_axis(list, 4);
                            for (const int64_t device : devices) list.mutable_mesh()->add_device_ids(device);
                            for (const int64_t axis : axes) list.add_axes()->set_mesh_axis_index(axis);
                          }),
                          8);
  };
  EXPECT_EQ(groups({0}), kColumns);
  EXPECT_EQ(groups({1}), kRows);
  EXPECT_EQ(groups({0, 1}), (ReplicaGroups{{0, 1, 2, 3, 4, 5, 6, 7}}));
  EXPECT_EQ(groups({1, 0}), (ReplicaGroups{{0, 4, 1, 5, 2, 6, 3, 7}}));
  EXPECT_EQ(groups({0}, {7, 6, 5, 4, 3, 2, 1, 0}), (ReplicaGroups{{7, 3}, {6, 2}, {5, 1}, {4, 0}}));
  EXPECT_EQ(groups({2}), std::nullopt);
  EXPECT_EQ(groups({0, 0}), std::nullopt);
}

// Of an axis of 8: the parts before, of and after it multiply to 8.
TEST(ReplicaGroups, ReadsPartsOfAxes) {
  const auto groups = [](int64_t before, int64_t size) {
    return replica_groups(all_reduce([&](auto& proto) {
                            auto& list = *proto.mutable_mesh_axes_replica_group_list();
                            add_axis(list, 8);
                            auto* info = list.add_axes()->mutable_sub_axis_info();
                            info->set_pre_size(before);
                            info->set_size(size);
                          }),
                          8);
  };
  EXPECT_EQ(groups(1, 2), kColumns);
  EXPECT_EQ(groups(2, 4), kRows);
  EXPECT_EQ(groups(2, 2), (ReplicaGroups{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(groups(3, 2), std::nullopt);
}

TEST(ReplicaGroups, NoGroupsAreEverybodyOnAChannel) {
  const ReplicaGroups everybody = {{0, 1, 2, 3}};
  EXPECT_EQ(replica_groups(all_reduce([](auto&) {}), 4), everybody);
  EXPECT_EQ(replica_groups(all_reduce([](auto& proto) { proto.set_channel_id(0); }), 4), std::nullopt);
  // Groups of replicas, of which there is one: all its partitions.
  const Instruction of_replicas = all_reduce([](auto& proto) {
    proto.set_use_global_device_ids(false);
    proto.add_replica_groups()->add_replica_ids(0);
  });
  EXPECT_EQ(replica_groups(of_replicas, 4), everybody);
}

TEST(ReplicaGroups, RefusesWhatIsNoDivisionOfAllDevices) {
  for (const ReplicaGroups& wrong : {ReplicaGroups{{0, 1}, {2}}, ReplicaGroups{{0, 1}, {1, 2}}, ReplicaGroups{{0, 1}},
                                     ReplicaGroups{{0, 1}, {2, 9}}}) {
    Instruction one = all_reduce([](auto&) {});
    set_replica_groups(one, wrong);
    EXPECT_EQ(replica_groups(one, 4), std::nullopt);
  }
}

TEST(ReplicaGroups, WritesOneEncodingAlone) {
  Instruction one = all_reduce([](auto& proto) { add_axis(*proto.mutable_mesh_axes_replica_group_list(), 8); });
  set_replica_groups(one, kColumns);
  EXPECT_EQ(replica_groups(one, 8), kColumns);
  EXPECT_FALSE(one.proto->has_mesh_axes_replica_group_list());
}

}  // namespace
}  // namespace alpa::hlo
