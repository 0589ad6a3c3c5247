#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace alpa::pjrt {

/// A value of one of XLA's debug options.
using OptionValue = std::variant<bool, int64_t, double, std::string>;

/// How to compile a program. GSPMD does the partitioning, never Shardy.
struct CompileOptions {
  int num_replicas = 1;
  int num_partitions = 1;
  /// Lets XLA's partitioner split the program by its shardings; else each device runs the program as it is.
  bool use_spmd_partitioning = false;
  /// Device id of replica r and partition p at r * num_partitions + p; if empty the plug-in chooses.
  std::vector<int> device_ids = {};
  /// One flag an output or parameter, or one for all: may the partitioner choose its sharding?
  std::vector<bool> allow_spmd_sharding_propagation_to_output = {false};
  std::vector<bool> allow_spmd_sharding_propagation_to_parameters = {false};
  /// XLA's debug options by name ("xla_dump_to"), for this compile alone; an unknown one is the plug-in's error.
  std::map<std::string, OptionValue> overrides = {};

  int num_devices() const { return num_replicas * num_partitions; }
};

/// A serialized xla.CompileOptionsProto. On platform "cpu", two options are false unless `overrides` sets them:
/// xla_cpu_use_xnnpack, with which programs that update weights in place gave wrong numbers (PJRT API 0.81), and
/// xla_cpu_enable_fast_min_max, with which maxima and minima lose NaNs. Of the others that give up IEEE's rules,
/// xla_cpu_enable_fast_math is false by default and xla_allow_excess_precision (bf16 kept as f32 between operations)
/// true, as JAX has them.
/// Errors: InvalidArgumentError if a count is below 1 or `device_ids` has another length than replicas times
/// partitions.
std::string encode_compile_options(const CompileOptions& options, const std::string& platform);

}  // namespace alpa::pjrt
