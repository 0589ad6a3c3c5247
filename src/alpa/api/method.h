#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alpa/api/sharding_option.h"
#include "alpa/mesh/logical_mesh.h"
#include "alpa/sharding/spec.h"

namespace alpa {

namespace api {

struct Step;

/// Placements that a step must keep; the rest is planned around them.
struct FixedPlacements {
  std::optional<mesh::LogicalMesh> mesh;
  std::vector<std::optional<sharding::ShardingSpec>> inputs, outputs;  ///< One each, or none at all.
};

}  // namespace api

/// How a step is spread over the devices.
struct ParallelMethod {
  virtual ~ParallelMethod() = default;
  /// "shard", "data", "zero2", "zero3".
  virtual std::string name() const = 0;

  /// Sizes of the logical mesh's axes; empty: the best of all factorizations of the device count.
  std::optional<std::vector<int64_t>> mesh_shape;
  /// Most bytes that a device may hold; empty: the cluster's device memory.
  std::optional<int64_t> memory_budget_bytes;
  /// Whether the backward pass may make values of the forward pass anew, not to keep them, where memory binds.
  bool rematerialize = true;
  /// Parts that the batch is cut into, in order, along its first dim. The function is traced on one part; its value,
  /// auxiliary outputs and gradients are averaged over the parts (see value_and_grad), then what follows runs once.
  int64_t num_micro_batches = 1;

  /// What the planner must and may do, and placements that are given: those of ShardParallel are options.
  virtual AutoShardingOption auto_sharding() const { return {}; }
  virtual ManualShardingOption manual_sharding() const { return {}; }
  /// What of a step lies where another step has it. Errors: InvalidArgumentError if the two do not fit.
  virtual api::FixedPlacements fixed_placements(const api::Step&) const { return {}; }
};

/// Each operator and tensor is sharded as the planner finds best, under the options' constraints.
struct ShardParallel : ParallelMethod {
  ShardParallel() = default;
  explicit ShardParallel(std::vector<int64_t> shape, int64_t micro_batches = 1) {
    mesh_shape = std::move(shape);
    num_micro_batches = micro_batches;
  }
  std::string name() const override {
    if (auto_sharding_option.force_zero_stage_3) return "zero3";
    if (!auto_sharding_option.force_data_parallel) return "shard";
    return auto_sharding_option.prefer_reduce_scatter ? "zero2" : "data";
  }
  AutoShardingOption auto_sharding() const override { return auto_sharding_option; }
  ManualShardingOption manual_sharding() const override { return manual_sharding_option; }

  AutoShardingOption auto_sharding_option;
  ManualShardingOption manual_sharding_option;
};

/// The batch is spread over all devices, all else is whole on each.
struct DataParallel : ParallelMethod {
  DataParallel() = default;
  explicit DataParallel(int64_t micro_batches) { num_micro_batches = micro_batches; }
  std::string name() const override { return "data"; }
};

/// Data parallelism whose optimizer state and updates are divided over all devices: gradients are reduce-scattered,
/// parameters gathered once a step. **Source**: ZeRO stage 2, Rajbhandari et al. 2020.
struct Zero2Parallel : DataParallel {
  using DataParallel::DataParallel;
  std::string name() const override { return "zero2"; }
};

/// The same with the parameters divided too, and gathered where they are used. **Source**: ZeRO stage 3, same paper.
struct Zero3Parallel : DataParallel {
  using DataParallel::DataParallel;
  std::string name() const override { return "zero3"; }
};

/// Any method, held by value.
class AnyMethod {
 public:
  AnyMethod() : method_(std::make_shared<ShardParallel>()) {}
  template <std::derived_from<ParallelMethod> Method>
  AnyMethod(Method method) : method_(std::make_shared<Method>(std::move(method))) {}  // NOLINT: reads as the method
  const ParallelMethod& operator*() const { return *method_; }
  const ParallelMethod* operator->() const { return method_.get(); }

 private:
  std::shared_ptr<const ParallelMethod> method_;
};

}  // namespace alpa
