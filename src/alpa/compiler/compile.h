#pragma once

#include <map>
#include <string>
#include <vector>

#include "alpa/compiler/communication.h"
#include "alpa/compiler/program.h"
#include "alpa/hlo/collectives.h"
#include "alpa/pjrt/executable.h"
#include "alpa/plan/plan.h"
#include "alpa/runtime/mesh_executable.h"

namespace alpa::compiler {

/// A planned program, compiled.
struct Compiled {
  runtime::MeshExecutable executable;
  std::map<std::string, hlo::CollectiveTotal> found;  ///< Collectives of the program that a device runs.
  std::vector<CommunicationSite> sites;               ///< The same, one by one.
  std::string partitioned_module;       ///< That program, a serialized HloModuleProto; empty on one device.
  int64_t contraction_flops = 0;        ///< Of dots and convolutions, summed over devices.
  int64_t memory_per_device_bytes = 0;  ///< argument + output - alias + temp.
  double compile_seconds = 0;
  /// Serialized HloModuleProto of what runs once a micro-batch, if there are several; `partitioned_module` is then what
  /// runs once a step. Empty on one device.
  std::string accumulate_module = {};
};

/// Ways to divide an operation that a plan may hold.
enum class Strategies {
  kKnown,  ///< Those of the operation's rule.
  kAny,    ///< All: for tests of what the partitioner does.
};

/// Whose collectives a program runs with.
enum class Collectives {
  kPartitioner,  ///< As XLA's partitioner left them; one compile.
  kRewritten,    ///< Those that the collective passes made of them: partitioned first, then compiled
                 ///< (docs/partitioner.md).
};

struct CompileRequest {
  passes::PassObserver observer = {};  ///< Sees each pass.
  Strategies strategies = Strategies::kKnown;
  Collectives collectives = Collectives::kRewritten;
  bool keeps_barriers = false;  ///< Set for what is rematerialized: it lies behind barriers.
};

/// Annotates, partitions and compiles a program as its plan says, for the first devices of the client.
/// Errors: InvalidArgumentError if the plan is of another program, divides an operation otherwise than its rule does or
/// needs more devices than the client has; those of the plug-in. Of a step with micro-batches, counts are those of a
/// step: the part of a micro-batch as often as it runs.
Compiled compile(const Program& program, const plan::Plan& plan, const pjrt::Client& client,
                 const CompileRequest& request = {});

/// The program with the plan's sharding on every instruction.
hlo::Module annotated_module(const Program& program, const plan::Plan& plan, const passes::PassObserver& observer = {});

/// A partitioned program with its collectives rewritten, ready to be compiled as it is.
hlo::Module rewritten_module(const hlo::Module& partitioned, int64_t num_devices,
                             const passes::PassObserver& observer = {});

}  // namespace alpa::compiler
