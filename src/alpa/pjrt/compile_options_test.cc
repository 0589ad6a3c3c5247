#include "alpa/pjrt/compile_options.h"

#include <gtest/gtest.h>

#include "alpa/base/error.h"
#include "alpa/pjrt/wire.h"

namespace alpa::pjrt {
namespace {

/// Name and serialized value of the overrides (field 7) of a serialized CompileOptionsProto.
std::map<std::string, std::string> overrides(const std::string& encoded) {
  std::map<std::string, std::string> result;
  for (const auto entry : bytes_fields(encoded, 7)) {
    result[std::string(bytes_fields(entry, 1).at(0))] = bytes_fields(entry, 2).at(0);
  }
  return result;
}

TEST(CompileOptions, XnnpackAndFastMinMaxAreOffOnACpuUnlessAskedFor) {
  const std::string off("\x10\x00", 2);
  const std::string on("\x10\x01", 2);
  CompileOptions options;
  EXPECT_EQ(overrides(encode_compile_options(options, "cpu")).at("xla_cpu_use_xnnpack"), off);
  EXPECT_EQ(overrides(encode_compile_options(options, "cpu")).at("xla_cpu_enable_fast_min_max"), off);
  EXPECT_TRUE(overrides(encode_compile_options(options, "cuda")).empty());
  options.overrides["xla_cpu_use_xnnpack"] = true;
  EXPECT_EQ(overrides(encode_compile_options(options, "cpu")).at("xla_cpu_use_xnnpack"), on);
}

TEST(CompileOptions, ValuesKeepTheirKind) {
  CompileOptions options;
  options.overrides = {{"a", int64_t{300}}, {"b", std::string("x")}, {"c", 1.0}};
  const auto values = overrides(encode_compile_options(options, "cuda"));
  EXPECT_EQ(values.at("a"), "\x18\xac\x02");
  EXPECT_EQ(values.at("b"), "\x0a\x01x");
  EXPECT_EQ(values.at("c"), std::string("\x21\0\0\0\0\0\0\xf0\x3f", 9));
}

TEST(CompileOptions, AssignmentListsTheReplicasOfEachPartition) {
  CompileOptions options;
  options.num_replicas = 2;
  options.num_partitions = 3;
  options.device_ids = {0, 1, 2, 3, 4, 5};
  const std::string encoded = encode_compile_options(options, "cpu");
  const auto assignment = bytes_fields(bytes_fields(encoded, 3).at(0), 9).at(0);
  const auto partitions = bytes_fields(assignment, 3);
  ASSERT_EQ(partitions.size(), 3u);
  EXPECT_EQ(bytes_fields(partitions[1], 1).at(0), "\x01\x04");
}

TEST(CompileOptions, RejectsCountsThatDoNotFit) {
  CompileOptions options;
  options.num_partitions = 0;
  EXPECT_THROW(encode_compile_options(options, "cpu"), InvalidArgumentError);
  options.num_partitions = 2;
  options.device_ids = {0};
  EXPECT_THROW(encode_compile_options(options, "cpu"), InvalidArgumentError);
}

}  // namespace
}  // namespace alpa::pjrt
