// Damaged files through everything that reads them: what comes out is a value or a typed error of the caller's, in
// time.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/compiler/compile_accumulated.h"
#include "alpa/compiler/meta.h"
#include "alpa/compiler/plan_program.h"
#include "alpa/compiler/program.h"
#include "alpa/hlo/collectives.h"
#include "alpa/hlo/flops.h"
#include "alpa/hlo/liveness.h"
#include "alpa/hlo/load.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/hlo/text.h"
#include "alpa/mesh/cluster.h"
#include "alpa/plan/plan.h"
#include "alpa/sharding/spec.h"
#include "alpa/solver/iopddl.h"
#include "alpa/tensor/safetensors.h"
#include "mutate.h"

namespace alpa::fuzz {
namespace {

constexpr double kMaxSeconds = 5;

std::string data(const std::string& path) { return read_file(std::string(ALPA_TEST_DATA "/models/") + path); }
std::string module_bytes(const std::string& model) { return hlo::unpack(data(model + "/train_step.hlo.pb.xz")); }

struct Counts {
  int taken = 0;
  int refused = 0;
};

// Runs `body`; the outcome must be none or an error that is the input's fault.
bool survives(const std::string& what, uint64_t seed, const std::function<void()>& body, Counts& counts) {
  const auto start = std::chrono::steady_clock::now();
  try {
    body();
    ++counts.taken;
  } catch (const InternalError& error) {
    ADD_FAILURE() << what << ", seed " << seed << ": internal error: " << error.what();
    return false;
  } catch (const Error&) {
    ++counts.refused;
  } catch (const std::exception& error) {
    ADD_FAILURE() << what << ", seed " << seed << ": " << typeid(error).name() << ": " << error.what();
    return false;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_LT(seconds, kMaxSeconds) << what << ", seed " << seed;
  return seconds < kMaxSeconds;
}

compiler::Program load(const std::string& bytes) {
  return compiler::load_program(bytes, "mutant", std::nullopt, [](std::string_view) -> std::string {
    raise<UnsupportedError>("test", "StableHLO takes a plug-in");
  });
}

// Everything that looks at a module without planning it; its text, which takes longest, for one in three.
void inspect(const std::string& bytes, uint64_t seed) {
  hlo::recognize(bytes);
  const hlo::Module module = hlo::read_module(bytes);
  const std::string written = hlo::write_module(module);
  EXPECT_TRUE(hlo::write_module(hlo::read_module(written)) == written);
  if (seed % 3 == 0) {
    EXPECT_TRUE(hlo::write_module(hlo::parse_text(hlo::to_text(module))) == written) << "seed " << seed;
  }
  hlo::flops(module);
  hlo::collectives(module);
  hlo::liveness(module, module.entry_computation());
}

compiler::PlanOptions plan_options() {
  compiler::PlanOptions options;
  options.mesh = mesh::LogicalMesh({2, 4});
  options.cluster = mesh::load_cluster("h100-dgx");
  options.relative_gap = 1;
  return options;
}

TEST(Mutation, BytesOfAModule) {
  const std::string mlp = module_bytes("mlp");
  const std::string scan = module_bytes("gpt_scan");
  Counts counts;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    const bool small = seed % 16 != 0;
    const std::string mutant = mutate_bytes(small ? mlp : scan, small ? scan : mlp, random);
    if (!survives(
            "module", seed,
            [&] {
              inspect(mutant, seed);
              load(mutant);
            },
            counts))
      return;
  }
  EXPECT_GT(counts.taken, 10);
  EXPECT_GT(counts.refused, 300);
}

void mutate_fields(const std::string& model, uint64_t first, uint64_t count, bool plan) {
  pb::HloModuleProto original;
  ASSERT_TRUE(original.ParseFromString(module_bytes(model)));
  Counts inspected;
  Counts planned;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    Random random(seed);
    pb::HloModuleProto mutant = original;
    mutate_module(mutant, random);
    const std::string bytes = mutant.SerializeAsString();
    const int before = inspected.taken;
    if (!survives(model, seed, [&] { inspect(bytes, seed); }, inspected)) return;
    if (inspected.taken == before || !plan) continue;
    if (!survives(model + " plan", seed, [&] { compiler::plan_program(load(bytes), plan_options()); }, planned)) return;
  }
  EXPECT_GT(inspected.taken, static_cast<int>(count) / 100);
  EXPECT_GT(inspected.refused, static_cast<int>(count) / 4);
}

TEST(Mutation, FieldsOfAModuleThatIsPlannedIfItVerifies) { mutate_fields("mlp", 0, 600, true); }
TEST(Mutation, FieldsOfAModuleWithLoops) { mutate_fields("gpt_scan", 10'000, 120, false); }
TEST(Mutation, FieldsOfAModuleWithConvolutions) { mutate_fields("unet", 20'000, 40, false); }
TEST(Mutation, FieldsOfAModuleWithIndexing) { mutate_fields("moe", 30'000, 80, false); }

TEST(Mutation, FieldsOfAMarkedModuleThatRunsInMicroBatches) {
  pb::HloModuleProto original;
  ASSERT_TRUE(original.ParseFromString(hlo::unpack(data("mlp/train_step_marked.hlo.pb.xz"))));
  const compiler::Meta meta = compiler::parse_meta(data("mlp/meta.json"), "meta");
  Counts counts;
  for (uint64_t seed = 40'000; seed < 40'600; ++seed) {
    Random random(seed);
    pb::HloModuleProto mutant = original;
    mutate_module(mutant, random);
    const auto body = [&] {
      const auto program = compiler::load_program(mutant.SerializeAsString(), "mutant", meta, nullptr, {}, 4);
      const plan::Plan plan = compiler::plan_program(program, plan_options());
      const compiler::PlannedParts parts = compiler::planned_parts(program, plan);
      for (const compiler::PlannedPart* part : {&parts.accumulate, &parts.apply})
        compiler::annotated_module(part->program, part->plan);
    };
    if (!survives("marked", seed, body, counts)) return;
  }
  EXPECT_GT(counts.taken, 6);
  EXPECT_GT(counts.refused, 150);
}

TEST(Mutation, TextOfAModule) {
  const std::string text = hlo::to_text(hlo::read_module(module_bytes("mlp")));
  Counts counts;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    const std::string mutant = mutate_bytes(text, "{}()=,[]\"base64 f32[]", random);
    const auto body = [&] { hlo::write_module(hlo::parse_text(mutant)); };
    if (!survives("text", seed, body, counts)) return;
  }
  EXPECT_GT(counts.taken, 10);
}

TEST(Mutation, Plan) {
  const compiler::Program program = load(module_bytes("mlp"));
  const std::string json = plan::to_json(compiler::plan_program(program, plan_options()));
  Counts counts;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const std::string mutant = mutate_json(json, random);
    if (!survives("plan", seed, [&] { plan::to_json(plan::plan_from_json(mutant, "mutant")); }, counts)) return;
  }
  EXPECT_GT(counts.taken, 10);
}

TEST(Mutation, Meta) {
  const std::string json = data("mlp/meta.json");
  Counts counts;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    const std::string mutant = mutate_json(json, random);
    if (!survives("meta", seed, [&] { compiler::parse_meta(mutant, "mutant"); }, counts)) return;
  }
  EXPECT_GT(counts.taken, 10);
}

TEST(Mutation, Cluster) {
  Counts counts;
  const std::string json = mesh::to_json(mesh::load_cluster("h100-dgx"));
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    const std::string mutant = mutate_json(json, random);
    if (!survives("cluster", seed, [&] { mesh::to_json(mesh::cluster_from_json(mutant, "mutant")); }, counts)) return;
  }
  EXPECT_GT(counts.taken, 10);
}

TEST(Mutation, Safetensors) {
  const std::string whole = data("mlp/inputs.safetensors");
  const std::string bytes = whole.substr(0, std::min<size_t>(whole.size(), 1 << 16));
  Counts counts;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    // Three in four change the header, where the structure is.
    const size_t header = std::min<size_t>(4096, bytes.size());
    const std::string mutant = seed % 4 == 0 ? mutate_bytes(whole, whole.substr(0, 256), random)
                                             : mutate_json(whole.substr(0, header), random) + whole.substr(header);
    if (!survives("safetensors", seed, [&] { tensor::read_safetensors(mutant, "mutant"); }, counts)) return;
  }
  EXPECT_GT(counts.refused, 100);
}

// What mutations cannot be expected to meet by chance.
TEST(Refusals, OfNumbersThatWrapAround) {
  const auto meta = [](const std::string& dim) {
    return compiler::parse_meta(
        R"({"inputs": [{"name": "x", "dtype": "float32", "shape": [8], "batch_dim": )" + dim + R"(}], "outputs": []})",
        "test");
  };
  meta("0");
  EXPECT_THROW(meta("1"), InvalidArgumentError);
  EXPECT_THROW(meta("2147483648"), InvalidArgumentError);
  EXPECT_THROW(meta("4294967296"), InvalidArgumentError);
  const auto arrays = [](const std::string& entries) {
    uint64_t size = entries.size();
    return tensor::read_safetensors(std::string(reinterpret_cast<const char*>(&size), 8) + entries + "12345678",
                                    "test");
  };
  arrays(
      R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}, "b": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}})");
  EXPECT_THROW(
      arrays(
          R"({"a": {"dtype": "F32", "shape": [18446744073709551615, 18446744073709551615], "data_offsets": [0, 4]}})"),
      InvalidArgumentError);
  EXPECT_THROW(
      arrays(
          R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}, "b": {"dtype": "F32", "shape": [1], "data_offsets": [3, 7]}})"),
      InvalidArgumentError);
}

TEST(Mutation, Problem) {
  const std::string json = read_file(ALPA_TEST_DATA "/iopddl/example.json");
  Counts counts;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const std::string mutant = mutate_json(json, random);
    if (!survives("iopddl", seed, [&] { solver::print_problem(solver::parse_problem(mutant)); }, counts)) return;
  }
  EXPECT_GT(counts.taken, 10);
}

TEST(Mutation, Spec) {
  const mesh::LogicalMesh mesh({2, 2, 2});
  Counts counts;
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    Random random(seed);
    const std::string mutant = mutate_bytes("(None, x, (y+z))", "()+,xyzNone-", random);
    if (!survives("spec", seed, [&] { sharding::parse_spec(mutant, mesh, -1); }, counts)) return;
  }
  EXPECT_GT(counts.taken, 10);
}

}  // namespace
}  // namespace alpa::fuzz
