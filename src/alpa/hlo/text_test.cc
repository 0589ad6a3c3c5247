#include "alpa/hlo/text.h"

#include <gtest/gtest.h>

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
  EXPECT_TRUE(write_module(parse_text(to_text(read_module(bytes)))) == bytes);
}

INSTANTIATE_TEST_SUITE_P(All, EveryText, testing::ValuesIn(module_files()), name_of_file);

constexpr std::string_view kSmall = R"(HloModule small
ENTRY main (id=1) {  // a comment
  x = f32[2,3]{1,0} parameter(0)
  ROOT y = f32[2,3] negate(x)
}
)";

// The error of a text in which `from` is replaced by `to`.
std::string error_of(const std::string& from, const std::string& to) {
  std::string text(kSmall);
  text.replace(text.find(from), from.size(), to);
  try {
    parse_text(text);
  } catch (const InvalidArgumentError& error) {
    return error.what();
  }
  return "none";
}

TEST(Text, TakesShapesWithoutLayoutAndComments) {
  const Module module = parse_text(kSmall);
  EXPECT_EQ(module.entry_computation().size(), 2);
  EXPECT_EQ(tensor::to_string(module.entry_computation()[1].shape), "f32[2,3]");
  EXPECT_TRUE(write_module(parse_text(to_text(module))) == write_module(module));
}

TEST(Text, ErrorsNameLineAndColumn) {
  EXPECT_EQ(error_of("HloModule", "Module"), "[hlo] line 1, column 1: expected \"HloModule\"");
  EXPECT_EQ(error_of("negate(x)", "negate(z)"), "[hlo] line 4, column 28: no instruction z comes before");
  EXPECT_EQ(error_of("f32[2,3]{1,0}", "g32[2,3]"), "[hlo] line 3, column 7: unknown element type \"g32\"");
  EXPECT_EQ(error_of("negate(x)", "negate(x), dimensios={1}"), "[hlo] line 4, column 32: unknown field \"dimensios\"");
  EXPECT_EQ(error_of("negate(x)", "negate(x), index=1, index=2"),
            "[hlo] line 4, column 41: \"tuple_index\" is given twice");
  EXPECT_EQ(error_of("parameter(0)", "parameter(a)"), "[hlo] line 3, column 31: \"a\" is not a whole number");
  EXPECT_EQ(error_of("ROOT y", "y"), "[hlo] line 4, column 23: no instruction of main is marked ROOT");
  EXPECT_EQ(error_of("ENTRY main", "main"), "[hlo] line 4, column 28: no computation is marked ENTRY");
  EXPECT_EQ(error_of("negate(x)\n}", "negate(x), metadata={op_name=\"a"),
            "[hlo] line 4, column 50: the string has no end");
}

TEST(Text, ProgramsAreVerified) {
  EXPECT_EQ(error_of("f32[2,3] negate", "f32[2,4] negate"),
            "[hlo] instruction y (negate): operand 0 is f32[2,3], its shape f32[2,4]");
  EXPECT_EQ(error_of("negate", "nigate"),
            "[hlo] instruction y: unknown opcode \"nigate\"; is the file from a newer XLA?");
}

TEST(Text, NamesThatAreNoWordsStandInQuotes) {
  const std::string name = "\"\\x07 = {\\\"\"";
  const std::string text =
      "HloModule m ENTRY e (id=1) { " + name + " = f32[] parameter(0) ROOT r = f32[] negate(" + name + ") }";
  const Module module = parse_text(text);
  EXPECT_EQ(module.entry_computation()[0].name, "\x07 = {\"");
  EXPECT_TRUE(write_module(parse_text(to_text(module))) == write_module(module));
}

TEST(Text, KeepsNumbersExactly) {
  for (const std::string constant :
       {"f32[] constant(0.1)", "f32[] constant(-0)", "f32[] constant(inf)", "f32[] constant(-inf)",
        "f32[] constant(1e-45)", "f64[] constant(0.1)", "bf16[] constant(1.5)", "f16[] constant(65504)",
        "s64[] constant(-9223372036854775808)", "u64[] constant(18446744073709551615)",
        "u8[3]{0} constant({1, 2, 255})", "pred[2]{0} constant({true, false})"}) {
    const std::string text = to_text(parse_text("HloModule m\nENTRY e (id=1) {\n ROOT c = " + constant + "\n}"));
    EXPECT_NE(text.find(constant), std::string::npos) << text;
  }
  EXPECT_THROW(parse_text("HloModule m ENTRY e (id=1) { ROOT c = u8[] constant(256) }"), InvalidArgumentError);
}

TEST(Text, ReadsWhatIsNestedOnlySoDeep) {
  std::string shape = "f32[]";
  for (int k = 0; k < 1000; ++k) shape = "(" + shape + ")";
  EXPECT_THROW(parse_text("HloModule m ENTRY e (id=1) { ROOT p = " + shape + " parameter(0) }"), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa::hlo
