#pragma once

#include "alpa/compiler/compile.h"

namespace alpa::compiler {

/// A program, built for the devices of a plan's mesh.
struct Built {
  pjrt::Executable executable;
  std::string module;  ///< The program that a device runs, a serialized HloModuleProto; empty on one device.
  std::map<std::string, hlo::CollectiveTotal> found;
  std::vector<CommunicationSite> sites;
  int64_t contraction_flops = 0;        ///< Summed over devices.
  int64_t memory_per_device_bytes = 0;  ///< argument + output - alias + temp.
};

/// Annotates, partitions and compiles a program without micro-batches, or a part of one.
/// Errors: InvalidArgumentError if the client has too few devices or an operation is divided otherwise than its rule
/// does; those of the plug-in.
Built build(const Program& program, const plan::Plan& plan, const pjrt::Client& client, const CompileRequest& request);

/// The first half of `build` for more than one device: what the partitioner makes of it, its collectives as they are.
hlo::Module partitioned_program(const Program& program, const plan::Plan& plan, const pjrt::Client& client,
                                const CompileRequest& request);
/// The second half: rewrites the collectives and compiles what is left as it is.
Built build_partitioned(const hlo::Module& partitioned, const plan::Plan& plan, const pjrt::Client& client,
                        const CompileRequest& request);

}  // namespace alpa::compiler
