#pragma once

#include <cstdint>
#include <vector>

#include "alpa/planner/intra/device_program.h"

namespace alpa::planner {

struct KernelUse {
  DeviceValue value;      ///< `op` is a kernel.
  bool in_place = false;  ///< True if a result of the same size may be written over it.
};

/// What the compiler runs as one: an operation with all that is fused into it.
struct Kernel {
  hlo::Opcode opcode = hlo::Opcode::kParameter;  ///< Of the operation that makes the results.
  std::vector<KernelUse> uses;                   ///< No value twice, but for loops and branches: as the operands there.
  std::vector<DeviceArray> results;
  std::vector<int32_t> called = {};
  int32_t origin = -1;
};

/// Kernels of a computation, operands before their uses.
struct KernelGraph {
  std::vector<Kernel> kernels;
  std::vector<int32_t> parameters;
  std::vector<DeviceValue> roots;
};

/// Fuses as XLA's CPU compiler does: from the last operation to the first, each takes in the operations before it that
/// can be computed element by element. One with several users is computed anew in each, if it is cheap and either reads
/// no more than one array of its size or ends up in all of them. What nothing uses is left out.
KernelGraph fuse(const DeviceComputation& computation, const DeviceCompiler& compiler);

}  // namespace alpa::planner
