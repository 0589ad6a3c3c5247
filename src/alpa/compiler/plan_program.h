#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "alpa/compiler/constraint.h"
#include "alpa/compiler/program.h"
#include "alpa/mesh/cluster.h"
#include "alpa/plan/plan.h"
#include "alpa/planner/intra/device_program.h"
#include "alpa/planner/intra/intra.h"

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

/// What the planner may choose by method kShard, as constraints on its problem. The other methods keep to the
/// collectives and the batch's axis too.
struct SearchSpace {
  /// Axis that each batch input's batch dim must lie on, on it alone.
  std::optional<std::string> batch_axis;
  /// Divide the state that no contraction depends on, as an optimizer's, as far as can be: what updates it wants its
  /// gradients scattered. With method kData this is kZero2.
  bool prefer_reduce_scatter = false;
  bool allow_all_gather = true;  ///< In operations and changes of placement.
  bool allow_all_to_all = true;
  bool allow_replicated_parameters =
      true;  ///< Else each is divided that some strategy divides and no constraint places.
};

struct PlanOptions {
  Method method = Method::kShard;
  std::optional<mesh::LogicalMesh> mesh;  ///< Empty: all factorizations of the device count are tried.
  int64_t num_devices = 8;
  mesh::ClusterSpec cluster;
  std::optional<int64_t> memory_cap_bytes;     ///< Empty: the cluster's device memory.
  std::vector<Constraint> constraints;         ///< Of inputs.
  std::vector<Constraint> output_constraints;  ///< An output that feeds an input lies as that does.
  /// What constraints call the mesh's axes, in order; empty: x, y, z.
  std::vector<std::string> axis_names;
  SearchSpace search;
  bool rematerialize = true;           ///< Whether the backward pass may make values anew where memory binds.
  planner::DeviceCompiler compiler;    ///< Of the plug-in that will run it (device_compiler.h).
  double relative_gap = 0.01;          ///< Stop when the plan is proved this close to the best.
  int64_t proof_work = 3'000'000'000;  ///< Elementary operations of a first try to prove the best: a second or two.
  double time_limit_seconds = 120;     ///< Of one solve; the last guard.
  std::function<void(const std::string& what, double seconds)> progress;
  /// Gets the labelling problem whose best answer the plan is, and that answer: of the chosen mesh, under the cap that
  /// was last tried. By other methods than kShard the plan is one of the problem's choices, not the best.
  std::function<void(const planner::AnsweredProblem&)> problem_observer;
};

/// Chooses placements for a program. The plan's bound holds for all meshes that are tried; it is 0 where nothing is
/// proved: by methods that do not choose. Errors: InfeasibleError (memory, with a budget that a plan was made under; or
/// nothing does all that is asked: it names the options), InvalidArgumentError (constraints, batch that does not
/// divide).
plan::Plan plan_program(const Program& program, const PlanOptions& options);

}  // namespace alpa::compiler
