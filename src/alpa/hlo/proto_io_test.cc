#include "alpa/hlo/proto_io.h"

#include <gtest/gtest.h>

#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/flops.h"
#include "alpa/hlo/inline_calls.h"
#include "alpa/hlo/load.h"
#include "alpa/hlo/testing/module_files.h"
#include "alpa/hlo/verify.h"

namespace alpa::hlo {
namespace {

class EveryModule : public testing::TestWithParam<std::string> {};

TEST_P(EveryModule, RoundTripsByteForByte) {
  const std::string bytes = unpack(read_file(GetParam()));
  ASSERT_EQ(recognize(bytes), FileKind::kHloModuleProto);
  const Module module = read_module(bytes);
  EXPECT_TRUE(write_module(module) == bytes);
}

TEST_P(EveryModule, InlinedHasNoCallsAndTheSameFlops) {
  const Module module = read_module(unpack(read_file(GetParam())));
  const Module inlined = inline_calls(module);
  verify(inlined);
  for (const Computation& computation : inlined.computations) {
    for (const Instruction& instruction : computation.instructions) EXPECT_NE(instruction.opcode, Opcode::kCall);
  }
  EXPECT_EQ(flops(inlined), flops(module));
  EXPECT_EQ(contraction_flops(inlined), contraction_flops(module));
  EXPECT_GT(contraction_flops(module), 0);
  const Module again = read_module(write_module(inlined));
  EXPECT_EQ(instruction_count(again), instruction_count(inlined));
}

INSTANTIATE_TEST_SUITE_P(All, EveryModule, testing::ValuesIn(module_files()), name_of_file);

}  // namespace
}  // namespace alpa::hlo
