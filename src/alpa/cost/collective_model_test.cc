#include "alpa/cost/collective_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "alpa/base/error.h"

namespace alpa::cost {
namespace {

TEST(CollectiveModel, FormulasByHand) {
  mesh::ClusterSpec cluster = mesh::load_cluster("h100-dgx");
  cluster.intra_host = {1e-6, 1e9};
  const CollectiveModel model(cluster, mesh::LogicalMesh({2, 4}));
  EXPECT_DOUBLE_EQ(model.seconds(hlo::Opcode::kAllReduce, 4000, {1}), 2 * 3 * (1e-6 + 4000 / (4 * 1e9)));  // n = 4
  EXPECT_DOUBLE_EQ(model.seconds(hlo::Opcode::kAllGather, 4000, {0}), 1 * (1e-6 + 4000 / (2 * 1e9)));
  EXPECT_DOUBLE_EQ(model.seconds(hlo::Opcode::kAllToAll, 8000, {0, 1}), 7 * (1e-6 + 8000 / (8 * 1e9)));
  EXPECT_DOUBLE_EQ(model.seconds(hlo::Opcode::kCollectivePermute, 4000, {1}), 1e-6 + 4000 / 1e9);
  EXPECT_EQ(model.seconds(hlo::Opcode::kAllReduce, 4000, {}), 0);
  EXPECT_THROW(model.seconds(hlo::Opcode::kAdd, 1, {1}), UnsupportedError);
}

TEST(CollectiveModel, AllReduceIsReduceScatterThenAllGather) {
  const CollectiveModel model(mesh::load_cluster("a100-dgx"), mesh::LogicalMesh({8}));
  for (const int64_t bytes : {1, 1000, 1 << 30}) {
    EXPECT_DOUBLE_EQ(
        model.seconds(hlo::Opcode::kAllReduce, bytes, {0}),
        model.seconds(hlo::Opcode::kReduceScatter, bytes, {0}) + model.seconds(hlo::Opcode::kAllGather, bytes, {0}));
  }
}

TEST(CollectiveModel, ByBytesFewestCallsWinAmongEqualBytes) {
  const CollectiveModel model = CollectiveModel(mesh::load_cluster("a100-dgx"), mesh::LogicalMesh({8})).by_bytes();
  for (const int64_t bytes : {256, 1 << 20}) {
    const double reduced = model.seconds(hlo::Opcode::kAllReduce, bytes, {0});
    const double scattered = model.seconds(hlo::Opcode::kReduceScatter, bytes, {0});
    EXPECT_LT(reduced, scattered + model.seconds(hlo::Opcode::kAllGather, bytes, {0}));
    // A sum that is scattered, at the price of a scalar's sum.
    EXPECT_LT(scattered + model.seconds(hlo::Opcode::kAllReduce, 4, {0}), reduced);
  }
}

TEST(CollectiveModel, WhatMustNotBeUsedCostsMoreThanAnything) {
  const CollectiveModel model =
      CollectiveModel(mesh::load_cluster("a100-dgx"), mesh::LogicalMesh({8})).without({hlo::Opcode::kAllGather});
  for (const CollectiveModel& same : {model, model.by_bytes()}) {
    EXPECT_TRUE(std::isinf(same.seconds(hlo::Opcode::kAllGather, 8, {0})));
    EXPECT_TRUE(std::isfinite(same.seconds(hlo::Opcode::kAllToAll, 8, {0})));
  }
}

}  // namespace
}  // namespace alpa::cost
