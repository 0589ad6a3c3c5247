#include "alpa/pjrt/compile_options.h"

#include "alpa/base/error.h"
#include "alpa/pjrt/wire.h"

namespace alpa::pjrt {
namespace {

/// xla.DeviceAssignmentProto: for each partition ("computation") the devices of its replicas.
std::string encode_assignment(const CompileOptions& options) {
  WireWriter assignment;
  assignment.varint(1, options.num_replicas);
  assignment.varint(2, options.num_partitions);
  for (int partition = 0; partition < options.num_partitions; ++partition) {
    WireWriter ids;
    for (int replica = 0; replica < options.num_replicas; ++replica) {
      ids.packed(options.device_ids[replica * options.num_partitions + partition]);
    }
    WireWriter devices;
    devices.bytes(1, ids.data());
    assignment.bytes(3, devices.data());
  }
  return assignment.data();
}

std::string encode_flags(const std::vector<bool>& flags) {
  WireWriter packed;
  for (const bool flag : flags) packed.packed(flag);
  return packed.data();
}

/// xla.ExecutableBuildOptionsProto.
std::string encode_build_options(const CompileOptions& options) {
  WireWriter build;
  build.varint(1, static_cast<uint64_t>(-1));  // device_ordinal: none
  build.varint(4, options.num_replicas);
  build.varint(5, options.num_partitions);
  build.varint(6, options.use_spmd_partitioning);
  if (!options.device_ids.empty()) build.bytes(9, encode_assignment(options));
  build.bytes(12, encode_flags(options.allow_spmd_sharding_propagation_to_output));
  build.bytes(18, encode_flags(options.allow_spmd_sharding_propagation_to_parameters));
  build.varint(19, false);  // use_shardy_partitioner
  return build.data();
}

/// xla.OptionOverrideProto.
std::string encode_value(const OptionValue& value) {
  WireWriter encoded;
  if (const auto* string = std::get_if<std::string>(&value)) {
    encoded.bytes(1, *string);
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    encoded.varint(2, *flag);
  } else if (const auto* integer = std::get_if<int64_t>(&value)) {
    encoded.varint(3, static_cast<uint64_t>(*integer));
  } else {
    encoded.number(4, std::get<double>(value));
  }
  return encoded.data();
}

}  // namespace

std::string encode_compile_options(const CompileOptions& options, const std::string& platform) {
  require<InvalidArgumentError>(options.num_replicas >= 1 && options.num_partitions >= 1, "compile",
                                "{} replicas of {} partitions: ask for at least 1 of each", options.num_replicas,
                                options.num_partitions);
  require<InvalidArgumentError>(
      options.device_ids.empty() || static_cast<int>(options.device_ids.size()) == options.num_devices(), "compile",
      "{} device ids for {} replicas of {} partitions: give one for each", options.device_ids.size(),
      options.num_replicas, options.num_partitions);
  std::map<std::string, OptionValue> overrides = options.overrides;
  if (platform == "cpu") {
    overrides.emplace("xla_cpu_use_xnnpack", false);
    overrides.emplace("xla_cpu_enable_fast_min_max", false);  // true loses NaNs
  }
  WireWriter encoded;
  encoded.bytes(3, encode_build_options(options));
  for (const auto& [name, value] : overrides) {
    WireWriter entry;
    entry.bytes(1, name);
    entry.bytes(2, encode_value(value));
    encoded.bytes(7, entry.data());
  }
  return encoded.data();
}

}  // namespace alpa::pjrt
