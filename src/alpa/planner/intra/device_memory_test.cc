#include "alpa/planner/intra/device_memory.h"

#include <gtest/gtest.h>

#include "alpa/planner/intra/kernels.h"

namespace alpa::planner {
namespace {

using hlo::Opcode;

// Operations of 100 elements of 4 bytes unless said otherwise.
class Entry {
 public:
  DeviceValue parameter() {
    const DeviceValue made = add(Opcode::kParameter, {});
    entry().parameters.push_back(made.op);
    return made;
  }
  DeviceValue add(Opcode opcode, std::vector<DeviceValue> operands, int64_t elements = 100) {
    entry().ops.push_back({opcode, std::move(operands), {{4 * elements, elements}}, {}, -1});
    return {static_cast<int32_t>(entry().ops.size()) - 1, 0};
  }
  DeviceProgram with_roots(std::vector<DeviceValue> roots, std::vector<DeviceAlias> aliases = {}) {
    entry().roots = std::move(roots);
    program_.aliases = std::move(aliases);
    return program_;
  }

 private:
  DeviceComputation& entry() { return program_.computations[0]; }
  DeviceProgram program_{{{}}, 0, {}};
};

TEST(DeviceMemory, WhatIsFusedHasNone) {
  Entry entry;
  const DeviceValue x = entry.parameter();
  const DeviceValue twice = entry.add(Opcode::kAdd, {x, x});
  const DeviceMemory memory = memory_of(entry.with_roots({entry.add(Opcode::kNegate, {twice})}));
  EXPECT_EQ(memory.argument_bytes, 400);
  EXPECT_EQ(memory.output_bytes, 400);
  EXPECT_EQ(memory.temp_bytes, 0);
}

TEST(DeviceMemory, DotsResultsLiveUntilTheirLastUse) {
  Entry entry;
  const DeviceValue x = entry.parameter();
  const DeviceValue a = entry.add(Opcode::kDot, {x, x});
  const DeviceValue b = entry.add(Opcode::kDot, {a, a});
  const DeviceValue c = entry.add(Opcode::kDot, {b, b});
  EXPECT_EQ(memory_of(entry.with_roots({entry.add(Opcode::kDot, {c, c})})).temp_bytes, 800);
}

TEST(DeviceMemory, ElementwiseResultsTakeTheirOperandsMemory) {
  Entry entry;
  const DeviceValue x = entry.parameter();
  const DeviceValue a = entry.add(Opcode::kDot, {x, x});
  const DeviceValue b = entry.add(Opcode::kTanh, {a});
  EXPECT_EQ(memory_of(entry.with_roots({entry.add(Opcode::kDot, {b, b})})).temp_bytes, 400);
}

// w -> dot -> root that takes w's memory: a reader of w that the root does not wait for needs a copy, from which on the
// parameter's memory is free for others.
TEST(DeviceMemory, DonatedParametersAreCopiedForReadersThatTheRootDoesNotWaitFor) {
  const auto temp_bytes = [](bool waits) {
    Entry entry;
    const DeviceValue w = entry.parameter();
    const DeviceValue gradient = entry.add(Opcode::kDot, {w, w});
    const DeviceValue other = entry.add(Opcode::kDot, {w, waits ? w : gradient});
    const DeviceValue updated = entry.add(Opcode::kAdd, {w, waits ? other : gradient});
    return memory_of(entry.with_roots({updated, other}, {{0, 0}})).temp_bytes;
  };
  EXPECT_EQ(temp_bytes(true), 0);
  EXPECT_EQ(temp_bytes(false), 400);
}

TEST(Kernels, ExpensiveResultsAreMadeOnce) {
  const auto kernels = [](Opcode opcode) {
    Entry entry;
    const DeviceValue x = entry.parameter();
    const DeviceValue shared = entry.add(opcode, {x});
    const DeviceValue a = entry.add(Opcode::kDot, {entry.add(Opcode::kNegate, {shared}), x});
    const DeviceValue b = entry.add(Opcode::kDot, {entry.add(Opcode::kAbs, {shared}), x});
    return fuse(entry.with_roots({a, b}).computations[0], {}).kernels.size();
  };
  EXPECT_EQ(kernels(Opcode::kNegate), 5u);  // x, and twice an elementwise kernel and a dot
  EXPECT_EQ(kernels(Opcode::kTanh), 6u);
}

TEST(Kernels, LargeReductionsAreTheLibrarys) {
  const auto kernels = [](int64_t elements, bool library) {
    Entry entry;
    const DeviceValue made = entry.add(Opcode::kAbs, {entry.add(Opcode::kParameter, {}, elements)}, elements);
    const DeviceValue sum = entry.add(Opcode::kReduce, {made}, 1);
    return fuse(entry.with_roots({sum}).computations[0], {.reductions_by_library = library}).kernels.size();
  };
  EXPECT_EQ(kernels(100, true), 2u);
  EXPECT_EQ(kernels(4096, true), 3u);
  EXPECT_EQ(kernels(4096, false), 2u);
}

}  // namespace
}  // namespace alpa::planner
