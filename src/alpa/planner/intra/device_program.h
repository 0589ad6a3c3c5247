#pragma once

#include <cstdint>
#include <vector>

#include "alpa/hlo/opcode.h"

namespace alpa::planner {

/// What differs between versions of XLA's CPU compiler.
struct DeviceCompiler {
  bool reductions_by_library =
      true;  ///< Large reductions are calls of a library, into which nothing but products fuses.
};

/// An array of a device's program: which result of which operation of the same computation.
struct DeviceValue {
  int32_t op = 0;
  int32_t result = 0;
  friend auto operator<=>(const DeviceValue&, const DeviceValue&) = default;
};

struct DeviceArray {
  int64_t bytes = 0;
  int64_t elements = 0;
};

/// One operation of the program of a device. What only gives an array another form (reshape, tuples) is not there.
struct DeviceOp {
  hlo::Opcode opcode = hlo::Opcode::kParameter;
  std::vector<DeviceValue> operands;  ///< Of a while what comes into each carry, of a conditional into its branches.
  std::vector<DeviceArray> results;
  std::vector<int32_t> called = {};  ///< Computations: the body of a while, the branches of a conditional.
  int32_t origin = -1;               ///< What the plan calls it: a node of the graph of values, or -1.
};

/// Operations in an order where operands come before their uses. A body's parameters and roots are the carries.
struct DeviceComputation {
  std::vector<DeviceOp> ops;
  std::vector<int32_t> parameters;
  std::vector<DeviceValue> roots;
};

/// A root of the entry that takes a donated parameter's memory.
struct DeviceAlias {
  int32_t root = 0;
  int32_t parameter = 0;
};

/// The program of one device as a plan will make it, as far as its memory depends on it.
struct DeviceProgram {
  std::vector<DeviceComputation> computations;
  int32_t entry = 0;
  std::vector<DeviceAlias> aliases;
};

}  // namespace alpa::planner
