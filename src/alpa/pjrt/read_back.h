#pragma once

#include <string>
#include <string_view>

#include "alpa/pjrt/client.h"
#include "alpa/pjrt/compile_options.h"
#include "alpa/pjrt/executable.h"

// Programs read back from inside a plug-in's compiler. It dumps them to a private folder under the system's temporary
// one (XLA's options xla_dump_to, xla_dump_hlo_as_proto), as HloProto; what is returned is its module (field 1). Of the
// files
//   module_<number>.<name>.before_optimizations.hlo.pb
//   module_<number>.<name>.<pass>.<pipeline>.after_sharding-propagation.before_spmd-partitioning.hlo.pb
//   module_<number>.<name>.<pass>.<pipeline>.after_spmd-partitioning.before_<next pass>.hlo.pb
//   module_<number>.<name>.cpu_after_optimizations.hlo.pb
// the first and the third are read. The plug-ins differ in <next pass> ("control-dep-rewriter" at PJRT API 0.115,
// "call-inliner" at 0.81) and in further files (reports, options, object files), which do not matter here.

namespace alpa::pjrt {

/// Translates StableHLO (text, bytecode or a portable artifact) to a serialized HloModuleProto, the one that XLA starts
/// from. It is compiled for two partitions without a partitioner, which a plug-in refuses after the module is written
/// and before it does any work. One device is enough.
/// Errors: InvalidArgumentError or PluginError with the plug-in's text if it does not read the program.
std::string stablehlo_to_hlo(const Client& client, std::string_view program);

/// The partitioned module has real collectives, none of them combined or fused yet.
struct PartitionedCompile {
  Executable executable;
  std::string partitioned_module;  ///< A serialized HloModuleProto.
};

/// Compiles `hlo` (HloModuleProto) and reads the module as it was right after SPMD partitioning.
/// Errors: those of Executable::compile; InvalidArgumentError if `options` turn partitioning off.
PartitionedCompile compile_and_read_partitioned(const Client& client, std::string_view hlo,
                                                const CompileOptions& options);

/// The custom call that makes `partition_only` stop.
inline constexpr std::string_view kStopTarget = "alpa.stop";

/// Partitions `hlo` (HloModuleProto) without generating code. Its entry computation must hold an instruction that no
/// plug-in can generate code for: a custom call of target `kStopTarget`, api_version 4 (typed FFI), side effect, shape
/// u8[], sharding MANUAL; the result holds it too. All passes run; with the override xla_enable_hlo_passes_only =
/// "spmd-partitioner" only the partitioning does (about half the time; the module is less simplified). The client may
/// have fewer devices than there are partitions; no device ids are needed.
/// Errors: InvalidArgumentError if the stop is
/// missing or `options` turn partitioning off; what the plug-in says otherwise.
std::string partition_only(const Client& client, std::string_view hlo, const CompileOptions& options);

}  // namespace alpa::pjrt
