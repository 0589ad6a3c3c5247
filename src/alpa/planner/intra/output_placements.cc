#include "alpa/planner/intra/output_placements.h"

#include "alpa/base/error.h"

namespace alpa::planner {

using sharding::ShardingSpec;

Nearest nearest(const sharding::SpecPattern& pattern, const tensor::Shape& shape, const ShardingSpec& from,
                cost::ReshardModel& reshard) {
  if (const std::optional<ShardingSpec> exact = pattern.exact()) return {*exact, reshard.seconds(shape, from, *exact)};
  std::optional<Nearest> best;
  for (const ShardingSpec& spec : sharding::enumerate_specs(shape, reshard.logical_mesh())) {
    if (!pattern.matches(spec)) continue;
    const double seconds = reshard.seconds(shape, from, spec);
    if (!best || seconds < best->seconds) best = {spec, seconds};
  }
  ALPA_CHECK(best.has_value());
  return *best;
}

std::vector<ShardingSpec> output_placements(const IntraRequest& request, const Assignment& assignment,
                                            cost::ReshardModel& reshard) {
  const hlo::ValueGraph& graph = request.graph;
  std::vector<ShardingSpec> placements;
  for (size_t output = 0; output < graph.outputs.size(); ++output) {
    const hlo::Value& value = graph.values[static_cast<size_t>(graph.outputs[output])];
    const bool made_anywhere = assignment.is_generator(value.producer);
    ShardingSpec spec = ShardingSpec::replicated(value.shape.rank());
    if (!made_anywhere) spec = assignment.spec(graph, graph.outputs[output]);
    if (output < request.pinned_outputs.size() && request.pinned_outputs[output]) {
      const sharding::SpecPattern& pattern = *request.pinned_outputs[output];
      spec = made_anywhere ? pattern.least() : nearest(pattern, value.shape, spec, reshard).spec;
    }
    placements.push_back(std::move(spec));
  }
  for (const Feed& feed : request.feeds)
    placements[static_cast<size_t>(feed.output)] =
        assignment.spec(graph, graph.inputs[static_cast<size_t>(feed.input)]);
  return placements;
}

}  // namespace alpa::planner
