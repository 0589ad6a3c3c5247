#pragma once

#include <cstdint>
#include <vector>

#include "alpa/planner/intra/device_program.h"

namespace alpa::planner {

/// What is alive when a device's memory is fullest. Units: bytes.
struct DeviceMemory {
  struct Holding {
    int32_t origin = -1;  ///< DeviceOp::origin of what made it.
    int64_t bytes = 0;
  };
  int64_t argument_bytes = 0;
  int64_t output_bytes = 0;  ///< Of outputs that take no argument's memory.
  int64_t temp_bytes = 0;
  std::vector<Holding> alive;  ///< What makes up temp_bytes, as the program makes it.

  int64_t total() const { return argument_bytes + output_bytes + temp_bytes; }
};

/// The memory that XLA's CPU compiler gives a program: fused (kernels.h), with the copies that keep what is written in
/// place from being overwritten too early, in the compiler's order (breadth first: what can run, runs in the order in
/// which it became able to), each buffer from its making to its last use.
/// Cost: O(n log n), and for each donated parameter the operations between its uses and its new value.
DeviceMemory memory_of(const DeviceProgram& program, const DeviceCompiler& compiler = {});

}  // namespace alpa::planner
