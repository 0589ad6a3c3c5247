#include "alpa/sharding/spec.h"

#include <gtest/gtest.h>

#include <set>

#include "alpa/base/error.h"
#include "alpa/sharding/reshard.h"

namespace alpa::sharding {
namespace {

using mesh::LogicalMesh;
using tensor::DType;
using tensor::Shape;

const std::vector<LogicalMesh> kMeshes = {LogicalMesh({8}), LogicalMesh({2, 4}), LogicalMesh({4, 2}),
                                          LogicalMesh({2, 2, 2}), LogicalMesh({1, 8})};

TEST(ShardingSpec, ParsesWhatItPrints) {
  for (const LogicalMesh& mesh : kMeshes) {
    for (const ShardingSpec& spec : enumerate_specs(Shape(DType::kF32, {64, 16, 8}), mesh)) {
      EXPECT_EQ(parse_spec(to_string(spec, mesh), mesh, 3), spec) << to_string(spec, mesh);
    }
  }
  const LogicalMesh mesh({2, 4});
  EXPECT_EQ(parse_spec("None,y", mesh, 2), parse_spec("(None, y)", mesh, 2));
  EXPECT_EQ(parse_spec("(x+y)", mesh, 1).dims[0], Tile({0, 1}));
  EXPECT_EQ(parse_spec("((x+y), None)", mesh, 2).dims[0], Tile({0, 1}));
  EXPECT_EQ(parse_spec("()", mesh, 0).rank(), 0);
}

TEST(ShardingSpec, RejectsWhatIsNoSpec) {
  const LogicalMesh mesh({2, 4});
  for (const char* text :
       {"z", "(x,x)", "(x+x)", "(x", "x)", "(,)", "w,None", "(None,y,None)", "((x,y))", "+", "(x+)"}) {
    EXPECT_THROW(parse_spec(text, mesh, 2), InvalidArgumentError) << text;
  }
}

TEST(ShardingSpec, EnumerationHasEachOnceAndPadsNothing) {
  const LogicalMesh mesh({2, 4});
  const auto specs = enumerate_specs(Shape(DType::kF32, {8, 8}), mesh);
  EXPECT_EQ(specs.size(), 9u);  // each of two axes in no dim, the first or the second
  EXPECT_EQ(std::set<ShardingSpec>(specs.begin(), specs.end()).size(), 9u);
  EXPECT_EQ(enumerate_specs(Shape(DType::kF32, {2, 3}), mesh).size(), 2u);  // only x divides only the first dim
  EXPECT_EQ(enumerate_specs(Shape(DType::kF32, {}), mesh).size(), 1u);
}

TEST(OpSharding, EverySpecComesBack) {
  for (const LogicalMesh& mesh : kMeshes) {
    for (const ShardingSpec& spec : enumerate_specs(Shape(DType::kF32, {64, 64, 8}), mesh)) {
      const OpSharding sharding = to_op_sharding(spec, mesh);
      // Meshes with equal axes place some specs alike; the placement is what must come back.
      const ShardingSpec back = from_op_sharding(sharding, 3, mesh);
      EXPECT_EQ(num_shards(back, mesh), num_shards(spec, mesh));
      if (sharding.type == OpSharding::Type::kOther) {
        EXPECT_EQ(tile_devices(to_op_sharding(back, mesh)), tile_devices(sharding)) << to_string(spec, mesh);
      }
      OpSharding listed = sharding;  // the V1 form
      if (sharding.type == OpSharding::Type::kOther) {
        listed.devices = tile_devices(sharding);
        listed.iota_reshape.clear();
        listed.iota_perm.clear();
      }
      EXPECT_EQ(from_op_sharding(listed, 3, mesh), back);
    }
  }
}

TEST(OpSharding, IotaFormByHand) {
  // (y, x) on 2x4: tile (i, j) is device x=j, y=i.
  const LogicalMesh mesh({2, 4});
  const OpSharding sharding = to_op_sharding(parse_spec("(y,x)", mesh, 2), mesh);
  EXPECT_EQ(sharding.tile_dims, (std::vector<int64_t>{4, 2}));
  EXPECT_EQ(tile_devices(sharding), (std::vector<int64_t>{0, 4, 1, 5, 2, 6, 3, 7}));
  const OpSharding copies = to_op_sharding(parse_spec("(y,None)", mesh, 2), mesh);
  EXPECT_TRUE(copies.replicate_on_last_tile_dim);
  EXPECT_EQ(tile_devices(copies), (std::vector<int64_t>{0, 4, 1, 5, 2, 6, 3, 7}));
}

TEST(OpSharding, RejectsNumbersThatDoNotFit) {
  OpSharding sharding;
  sharding.type = OpSharding::Type::kOther;
  sharding.tile_dims = {2, 4};
  sharding.devices = {0, 1, 2};
  EXPECT_THROW(tile_devices(sharding), InvalidArgumentError);
  sharding.devices = {7, 6, 5, 4, 3, 2, 1, 0};
  EXPECT_THROW(from_op_sharding(sharding, 2, LogicalMesh({2, 4})), UnsupportedError);
  sharding.devices.clear();
  sharding.iota_reshape = {8};
  sharding.iota_perm = {1};
  EXPECT_THROW(tile_devices(sharding), InvalidArgumentError);
}

// Bytes as cost, as the tests by hand want it.
double by_bytes(ReshardStep::Kind, int64_t bytes, const std::vector<int>&) { return static_cast<double>(bytes); }

TEST(Reshard, StepsLeadWhereTheySay) {
  for (const LogicalMesh& mesh : kMeshes) {
    const Shape shape(DType::kF32, {64, 16});
    ReshardGraph graph(shape, mesh, by_bytes);
    for (const ShardingSpec& from : enumerate_specs(shape, mesh)) {
      for (const ShardingSpec& to : enumerate_specs(shape, mesh)) {
        const auto steps = graph.steps(graph.index(from), graph.index(to));
        ShardingSpec at = from;
        double sum = 0;
        for (const ReshardStep& step : steps) {
          const auto allowed = next_steps(shape, at, mesh);
          EXPECT_TRUE(std::any_of(allowed.begin(), allowed.end(),
                                  [&](const ReshardStep& one) { return one.result == step.result; }));
          sum += step.kind == ReshardStep::Kind::kSlice ? 0 : static_cast<double>(step_bytes(shape, at, step, mesh));
          at = step.result;
        }
        EXPECT_EQ(at, to);
        EXPECT_EQ(sum, graph.seconds_from(graph.index(from))[static_cast<size_t>(graph.index(to))]);
        EXPECT_EQ(steps.empty(), from == to);
      }
    }
  }
}

TEST(Reshard, CheapestWaysOfTheKnownBadPairs) {
  // [64,64] f32 on 2x4: the partitioner alone gathers all 16,384 bytes for these.
  const LogicalMesh mesh({2, 4});
  const Shape shape(DType::kF32, {64, 64});
  ReshardGraph graph(shape, mesh, by_bytes);
  const auto bytes = [&](const char* from, const char* to) {
    return graph.seconds_from(
        graph.index(parse_spec(from, mesh, 2)))[static_cast<size_t>(graph.index(parse_spec(to, mesh, 2)))];
  };
  EXPECT_EQ(bytes("(None,x)", "(y,None)"), 4096);                    // slice to (y,x), gather over x
  EXPECT_EQ(bytes("(None,(x+y))", "(x,None)"), 2048 + 2048 + 8192);  // permute to (y+x), all-to-all of x, gather of y
  EXPECT_EQ(bytes("(x,None)", "(None,None)"), 16384);
  EXPECT_EQ(bytes("(None,None)", "(x,y)"), 0);
}

TEST(Reshard, TriangleInequalityHolds) {
  const LogicalMesh mesh({2, 2, 2});
  const Shape shape(DType::kF32, {16, 8});
  ReshardGraph graph(shape, mesh, by_bytes);
  const auto specs = enumerate_specs(shape, mesh);
  for (const auto& a : specs) {
    for (const auto& b : specs) {
      for (const auto& c : specs) {
        const auto at = [&](const ShardingSpec& from, const ShardingSpec& to) {
          return graph.seconds_from(graph.index(from))[static_cast<size_t>(graph.index(to))];
        };
        EXPECT_LE(at(a, c), at(a, b) + at(b, c));
      }
    }
  }
}

TEST(Spec, ADimOfZeroIsNotDivided) {
  const mesh::LogicalMesh mesh({8, 1});
  const Shape empty(DType::kF32, {0, 8});
  EXPECT_FALSE(divides(parse_spec("(x,None)", mesh, 2), empty, mesh));
  EXPECT_TRUE(divides(parse_spec("(None,x)", mesh, 2), empty, mesh));
  EXPECT_EQ(enumerate_specs(empty, mesh).size(), 2u);
  EXPECT_EQ(enumerate_specs(Shape(DType::kF32, {0}), mesh).size(), 1u);
}

}  // namespace
}  // namespace alpa::sharding
