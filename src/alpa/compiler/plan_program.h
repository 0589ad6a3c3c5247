#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "alpa/compiler/program.h"
#include "alpa/mesh/cluster.h"
#include "alpa/plan/plan.h"
#include "alpa/solver/problem.h"

namespace alpa::compiler {

enum class Method {
  kNone,   ///< One device, unsharded.
  kData,   ///< Batch over all devices, all else replicated.
  kShard,  ///< The planner chooses.
  kZero2,  ///< Data parallelism whose optimizer state and updates are divided over all devices.
  kZero3,  ///< The same, and the parameters too: gathered where they are used.
};

/// Errors: InvalidArgumentError that lists the names.
Method parse_method(std::string_view text);
std::string_view name(Method method);
/// Whether a method spreads the batch over all devices: data, zero2, zero3.
bool divides_the_batch(Method method);

/// Placement demanded of the inputs whose names match a glob ("*": any characters).
struct Constraint {
  std::string pattern;
  std::string spec;
};

/// From "GLOB=(None,y)". Errors: InvalidArgumentError that names `text`.
Constraint parse_constraint(std::string_view text);

struct PlanOptions {
  Method method = Method::kShard;
  std::optional<mesh::LogicalMesh> mesh;  ///< Empty: all factorizations of the device count are tried.
  int64_t num_devices = 8;
  mesh::ClusterSpec cluster;
  std::optional<int64_t> memory_cap_bytes;  ///< Empty: the cluster's device memory.
  std::vector<Constraint> constraints;
  double relative_gap = 0.01;  ///< Stop when the plan is proved this close to the best.
  std::function<void(const std::string& what, double seconds)> progress;
  /// Gets the labelling problem whose best answer the plan is: that of the chosen mesh, under the cap that was last
  /// tried. By other methods than kShard the plan is one of its choices, not the best.
  std::function<void(const solver::Problem&)> problem_observer;
};

/// Chooses placements for a program. The plan's bound holds for all meshes that are tried; it is 0 where nothing is
/// proved: by methods that do not choose. Errors: InfeasibleError (memory), InvalidArgumentError (constraints, batch
/// that does not divide).
plan::Plan plan_program(const Program& program, const PlanOptions& options);

/// True if `text` matches a glob pattern of "*" and plain characters.
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace alpa::compiler
