#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "alpa/mesh/cluster.h"
#include "alpa/mesh/logical_mesh.h"
#include "alpa/sharding/spec.h"
#include "alpa/tensor/shape.h"

namespace alpa::plan {

/// An input or output of the program and its placement.
struct TensorPlan {
  std::string name;
  tensor::Shape shape;
  sharding::ShardingSpec spec;
  bool operator==(const TensorPlan&) const = default;
};

struct CollectiveCount {
  double count = 0;  ///< Executions a step.
  double bytes = 0;  ///< The larger of operand and result on one device, summed over executions.
  bool operator==(const CollectiveCount&) const = default;
};

/// How a program runs on a mesh, as data: enough to annotate every instruction, without a planner or a device.
struct Plan {
  static constexpr int kVersion = 1;

  std::string program_hash;
  mesh::ClusterSpec cluster;  ///< Planned for; the steps of a change of placement depend on it.
  mesh::LogicalMesh mesh{{1}};
  std::string method;
  int64_t micro_batches = 1;
  double objective_seconds = 0;
  double bound_seconds = 0;  ///< No plan on the meshes that were tried costs less; 0 if nothing was proved.
  double communication_seconds = 0;
  double planning_seconds = 0;
  int64_t predicted_memory_per_device_bytes = 0;
  std::map<std::string, CollectiveCount> collectives;  ///< Predicted, by opcode.
  std::vector<std::string> forbidden_collectives;      ///< Opcodes that no change of placement may use.
  std::vector<TensorPlan> inputs;
  std::vector<TensorPlan> outputs;
  /// Instructions of the program whose values the backward pass makes anew (passes::rematerialize). The names in `ops`
  /// and `operands` are those of the program that does so.
  std::vector<std::string> rematerialized;
  /// What that changes on a device, as the search estimated it with values and work divided evenly: bytes alive at the
  /// peak that it spares, and seconds a step that making the values again takes, without communication.
  int64_t rematerialization_saved_bytes = 0;
  double rematerialization_added_seconds = 0;
  /// Placement of each array that an instruction makes, tuples flattened. Names are those of the program with calls
  /// inlined.
  std::map<std::string, std::vector<sharding::ShardingSpec>> ops;
  /// Placement that an instruction wants of its operands, where one of them has another. Empty: none wants another.
  std::map<std::string, std::vector<sharding::ShardingSpec>> operands;
  /// Accumulators over micro-batches whose communication waits for the last one; `ops` says where their sums lie then.
  std::vector<std::string> deferred_sums = {};

  /// (objective - bound) / objective; 0 when both are 0.
  double gap() const;
};

/// Deterministic text: same plan, same bytes.
std::string to_json(const Plan& plan);

/// A plan without "cluster_description" is taken to be for the ready cluster that it names. Other fields that a plan
/// can do without ("communication_seconds", "operands", "deferred_sums", "gap") may be absent. Errors:
/// InvalidArgumentError that names `source` and the field.
Plan plan_from_json(std::string_view text, std::string_view source);

/// Of a program's bytes: "fnv1a64:" and 16 hex digits.
std::string program_hash(std::string_view bytes);

}  // namespace alpa::plan
