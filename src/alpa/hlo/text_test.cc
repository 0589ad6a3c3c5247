#include "alpa/hlo/text.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/hlo/load.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/hlo/testing/module_files.h"

namespace alpa::hlo {
namespace {

class EveryText : public testing::TestWithParam<std::string> {};

TEST_P(EveryText, GivesTheSameBytes) {
  const std::string bytes = unpack(read_file(GetParam()));
  const std::string text = to_text(read_module(bytes));
  const Module again = parse_text(text);
  EXPECT_TRUE(write_module(again) == bytes);
  EXPECT_TRUE(to_text(again) == text);
}

INSTANTIATE_TEST_SUITE_P(All, EveryText, testing::ValuesIn(module_files()), name_of_file);

}  // namespace
}  // namespace alpa::hlo
