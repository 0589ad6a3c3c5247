#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "alpa/hlo/module.h"

namespace alpa::hlo {

/// Devices that exchange data with each other, by partition number; the order in a group is that of the pieces.
using ReplicaGroups = std::vector<std::vector<int64_t>>;

/// The groups of a collective in a program of one replica and `num_devices` partitions, whichever encoding holds them:
/// lists (fields 49 and 87), an iota (87 and 92), axes of a mesh or parts of axes (93). Not of collective-permutes,
/// which have pairs. Nothing if the encoding is not understood, or the groups are not disjoint, equally large and of
/// all devices.
std::optional<ReplicaGroups> replica_groups(const Instruction& collective, int64_t num_devices);

/// Gives the collective these groups, in the encoding that all plug-ins read (field 49), with ids that mean partitions:
/// `use_global_device_ids` is set where the opcode has it. It must have a channel.
void set_replica_groups(Instruction& collective, const ReplicaGroups& groups);

/// 0: none; the program's partitions then do not take part together.
int64_t channel_id(const Instruction& collective);
void set_channel_id(Instruction& collective, int64_t channel);

/// Without a channel, groups and pairs are of replicas.
void clear_channel(Instruction& collective);

/// True for opcodes whose groups may be of devices: all-reduce, all-gather, reduce-scatter. With a channel, those of
/// others are of partitions.
bool may_have_global_ids(Opcode opcode);
/// True if the ids of its groups count all devices, replicas and partitions alike.
bool has_global_ids(const Instruction& collective);

/// Source and target partitions of a collective-permute.
std::vector<std::pair<int64_t, int64_t>> source_target_pairs(const Instruction& permute);

}  // namespace alpa::hlo
