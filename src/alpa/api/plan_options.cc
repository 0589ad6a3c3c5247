#include "alpa/api/plan_options.h"

#include "alpa/base/error.h"
#include "alpa/compiler/device_compiler.h"

namespace alpa::api {
namespace {

constexpr const char* kPlace = "parallelize";

std::vector<compiler::Constraint> constraints(const std::vector<ArrayPlacement>& placements,
                                              const std::string& option) {
  std::vector<compiler::Constraint> result;
  for (const ArrayPlacement& placement : placements) result.push_back({placement.pattern, placement.spec, option});
  return result;
}

// In the axis names that constraints have by default.
void add_fixed(const std::vector<std::optional<sharding::ShardingSpec>>& placements,
               const std::vector<std::string>& names, const mesh::LogicalMesh& mesh, const std::string& option,
               std::vector<compiler::Constraint>& constraints) {
  for (size_t k = 0; k < placements.size(); ++k) {
    if (placements[k]) constraints.push_back({names[k], sharding::to_string(*placements[k], mesh), option});
  }
}

std::string axis_name(int axis, const std::vector<std::string>& names) {
  const std::vector<std::string> all = names.empty() ? std::vector<std::string>{"x", "y", "z"} : names;
  require<InvalidArgumentError>(axis >= 0 && axis < static_cast<int>(all.size()), kPlace,
                                "force_batch_dim_to_mesh_dim is {}: a mesh has axes 0 to {}", axis, all.size() - 1);
  return all[static_cast<size_t>(axis)];
}

compiler::SearchSpace search_space(const AutoShardingOption& option, const ManualShardingOption& manual) {
  compiler::SearchSpace search;
  if (option.force_batch_dim_to_mesh_dim)
    search.batch_axis = axis_name(*option.force_batch_dim_to_mesh_dim, manual.mesh_axis_names);
  search.prefer_reduce_scatter = option.prefer_reduce_scatter;
  search.allow_all_gather = option.allow_all_gather;
  search.allow_all_to_all = option.allow_all_to_all;
  search.allow_replicated_parameters = option.allow_replicated_parameters;
  return search;
}

}  // namespace

compiler::PlanOptions plan_options(const ParallelMethod& method, const Step& step, const ClusterState& cluster) {
  const AutoShardingOption option = method.auto_sharding();
  const ManualShardingOption manual = method.manual_sharding();
  require<InvalidArgumentError>(method.memory_budget_bytes.value_or(0) >= 0, kPlace, "memory_budget_bytes is {}",
                                method.memory_budget_bytes.value_or(0));
  require<InvalidArgumentError>(option.relative_gap >= 0 && option.relative_gap <= 1, kPlace,
                                "relative_gap is {}: it is from 0 to 1", option.relative_gap);
  require<InvalidArgumentError>(option.proof_work >= 0, kPlace, "proof_work is {}: it is 0 or more", option.proof_work);
  compiler::PlanOptions options;
  options.method = compiler::parse_method(method.name());
  options.num_devices = cluster.num_devices;
  options.cluster = cluster.spec;
  options.compiler = compiler::device_compiler(cluster.client.plugin());
  if (method.mesh_shape) options.mesh = mesh::LogicalMesh(*method.mesh_shape);
  options.memory_cap_bytes = method.memory_budget_bytes;
  options.rematerialize = method.rematerialize;
  options.constraints = constraints(manual.inputs, "manual_sharding_option.inputs");
  options.output_constraints = constraints(manual.outputs, "manual_sharding_option.outputs");
  options.axis_names = manual.mesh_axis_names;
  options.search = search_space(option, manual);
  options.relative_gap = option.relative_gap;
  options.proof_work = option.proof_work;
  const FixedPlacements fixed = method.fixed_placements(step);
  if (!fixed.mesh) return options;
  options.mesh = fixed.mesh;
  add_fixed(fixed.inputs, step.input_names, *fixed.mesh, "the followed step", options.constraints);
  add_fixed(fixed.outputs, step.output_names, *fixed.mesh, "the training step", options.output_constraints);
  return options;
}

}  // namespace alpa::api
