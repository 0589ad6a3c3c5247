#include "alpa/pjrt/read_back.h"

#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/pjrt/testing/plugins.h"
#include "alpa/pjrt/wire.h"

namespace alpa::pjrt {
namespace {

class ReadBackOn : public OnPlugin {};
ALPA_ON_BOTH_PLUGINS(ReadBackOn);

/// Opcodes of all instructions of a serialized HloModuleProto: computations are field 3, their instructions 2,
/// opcode 2.
std::vector<std::string> opcodes(const std::string& module) {
  std::vector<std::string> result;
  for (const auto computation : bytes_fields(module, 3)) {
    for (const auto instruction : bytes_fields(computation, 2)) {
      result.emplace_back(bytes_fields(instruction, 2).at(0));
    }
  }
  return result;
}

int64_t count(const std::string& module, const std::string& opcode) {
  const auto all = opcodes(module);
  return std::count(all.begin(), all.end(), opcode);
}

/// A product over a dim that is split into 8 parts; `stop` is put before the return.
std::string product(const std::string& stop = "") {
  return R"(
module @product attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<16x32xf32> {mhlo.sharding = "{devices=[1,8]<=[8]}"},
                         %w: tensor<32x8xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"})
      -> (tensor<16x8xf32> {mhlo.sharding = "{replicated}"}) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
)" + stop +
         R"(
    return %0 : tensor<16x8xf32>
  }
})";
}

const std::string kStop =
    "    %1 = stablehlo.custom_call @alpa.stop() {has_side_effect = true, api_version = 4 : i32, backend_config = {}, "
    "mhlo.sharding = \"{manual}\"} : () -> tensor<1xui8>\n";

CompileOptions eight_parts() {
  CompileOptions options;
  options.num_partitions = 8;
  options.use_spmd_partitioning = true;
  return options;
}

TEST_P(ReadBackOn, StablehloTextAndArtifactGiveTheSameModule) {
  const Client one = client();
  const std::string from_artifact = stablehlo_to_hlo(one, model_file("train_step.mlirbc"));
  const std::string from_text = stablehlo_to_hlo(one, model_file("train_step.mlir"));
  const std::string exported = model_file("train_step.hlo.pb");
  EXPECT_EQ(opcodes(from_artifact), opcodes(from_text));
  EXPECT_EQ(opcodes(from_artifact).size(), opcodes(exported).size());
  EXPECT_EQ(count(from_artifact, "dot"), count(exported, "dot"));
}

TEST_P(ReadBackOn, ModuleReadFromStablehloCompiles) {
  const Client one = client();
  const std::string hlo = stablehlo_to_hlo(one, model_file("train_step.mlirbc"));
  EXPECT_EQ(Executable::compile(one, hlo, Format::kHlo).num_outputs(), 26);
}

TEST_P(ReadBackOn, BadStablehloGivesThePluginsText) {
  const Client one = client();
  ALPA_EXPECT_ERROR(stablehlo_to_hlo(one, "module { nonsense }"), PluginError, "nonsense");
  const char* mismatch = "module { func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> { return %x : tensor<2xf32> } }";
  ALPA_EXPECT_ERROR(stablehlo_to_hlo(one, mismatch), PluginError, "doesn't match function result type");
}

TEST_P(ReadBackOn, CompileGivesThePartitionedModule) {
  const Client eight = client(8);
  const std::string hlo = stablehlo_to_hlo(eight, product());
  EXPECT_EQ(count(hlo, "all-reduce"), 0);
  const PartitionedCompile compiled = compile_and_read_partitioned(eight, hlo, eight_parts());
  EXPECT_EQ(compiled.executable.num_partitions(), 8);
  EXPECT_EQ(count(compiled.partitioned_module, "all-reduce"), 1);
}

TEST_P(ReadBackOn, PartitionOnlyGivesTheSameModuleOnOneDevice) {
  const Client eight = client(8);
  const Client one = client(1);
  const std::string hlo = stablehlo_to_hlo(one, product(kStop));
  const std::string on_one = partition_only(one, hlo, eight_parts());
  EXPECT_EQ(count(on_one, "all-reduce"), 1);
  EXPECT_EQ(count(on_one, "custom-call"), 1);
  EXPECT_EQ(opcodes(on_one), opcodes(partition_only(eight, hlo, eight_parts())));
  CompileOptions quick = eight_parts();
  quick.overrides["xla_enable_hlo_passes_only"] = std::string("spmd-partitioner");
  EXPECT_EQ(count(partition_only(one, hlo, quick), "all-reduce"), 1);
}

TEST_P(ReadBackOn, PartitionOnlyRejectsWhatItCannotStop) {
  const Client one = client(1);
  const std::string endless = stablehlo_to_hlo(one, product());
  ALPA_EXPECT_ERROR(partition_only(one, endless, eight_parts()), InvalidArgumentError, "no custom call alpa.stop");
  const std::string stopped = stablehlo_to_hlo(one, product(kStop));
  ALPA_EXPECT_ERROR(partition_only(one, stopped, {}), InvalidArgumentError, "use_spmd_partitioning");
}

TEST(Wire, MalformedMessageIsAnError) {
  EXPECT_THROW(bytes_fields("\x0a\x05"
                            "ab",
                            1),
               InvalidArgumentError);
  EXPECT_THROW(bytes_fields("\x80", 1), InvalidArgumentError);
  EXPECT_EQ(bytes_fields(std::string("\x08\x01\x0a\x02hi\x0a\x00", 8), 1).size(), 2u);
}

}  // namespace
}  // namespace alpa::pjrt
