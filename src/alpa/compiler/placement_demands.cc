#include "alpa/compiler/placement_demands.h"

#include <fmt/format.h>

#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/sharding_constraint.h"

namespace alpa::compiler {
namespace {

using sharding::SpecPattern;
using sharding::Tile;

constexpr const char* kPlace = "plan";

/// All that is asked of one array.
struct Asked {
  std::optional<SpecPattern> pattern;
  std::string by;  ///< Who asked, for messages.
};

bool contradict(const SpecPattern& one, const SpecPattern& other) {
  for (size_t dim = 0; dim < one.dims.size(); ++dim) {
    if (one.dims[dim] && other.dims[dim] && *one.dims[dim] != *other.dims[dim]) return true;
    if (!one.dims[dim]) continue;
    for (size_t second = 0; second < other.dims.size(); ++second) {
      if (second == dim || !other.dims[second]) continue;
      for (const int axis : one.dims[dim]->axes()) {
        if (other.dims[second]->contains(axis)) return true;
      }
    }
  }
  return false;
}

class DemandFinder {
 public:
  DemandFinder(const Program& program, const PlanOptions& options, const mesh::LogicalMesh& mesh)
      : program_(program),
        options_(options),
        mesh_(mesh),
        inputs_(program.meta.inputs.size()),
        outputs_(program.meta.outputs.size()) {}

  PlacementDemands run() {
    for (const Constraint& constraint : options_.constraints) constrain_inputs(constraint);
    for (const Constraint& constraint : options_.output_constraints) constrain_outputs(constraint);
    if (options_.search.batch_axis) place_batch(*options_.search.batch_axis);
    keep_parameters();
    PlacementDemands demands;
    for (Asked& asked : inputs_) demands.inputs.push_back(std::move(asked.pattern));
    for (Asked& asked : outputs_) demands.outputs.push_back(std::move(asked.pattern));
    if (options_.method != Method::kNone) demands.values = asked_by_program();
    return demands;
  }

 private:
  const Meta& meta() const { return program_.meta; }
  const tensor::Shape& output_shape(size_t output) const {
    return program_.graph.values[static_cast<size_t>(program_.graph.outputs[output])].shape;
  }

  void ask(Asked& array, const SpecPattern& pattern, const std::string& by, const std::string& what) {
    require<InvalidArgumentError>(!array.pattern || !contradict(*array.pattern, pattern), kPlace,
                                  "{} and {} contradict each other on {}: give it one of them", array.by, by, what);
    array.by = array.pattern ? array.by + " with " + by : by;
    if (!array.pattern) array.pattern = pattern;
    for (size_t dim = 0; dim < pattern.dims.size(); ++dim) {
      if (pattern.dims[dim]) array.pattern->dims[dim] = pattern.dims[dim];
    }
  }

  SpecPattern read(const std::string& spec, const tensor::Shape& shape, const std::string& by,
                   const std::string& what) const {
    try {
      SpecPattern pattern = sharding::parse_pattern(spec, mesh_, shape.rank(), options_.axis_names);
      sharding::check_pattern(pattern, shape, mesh_);
      return pattern;
    } catch (const InvalidArgumentError& error) {
      raise<InvalidArgumentError>(kPlace, "{} does not fit {} on mesh {}: {}", by, what, mesh_.to_string(),
                                  error.what());
    }
  }

  void constrain_inputs(const Constraint& constraint) {
    bool matched = false;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const InputMeta& input = meta().inputs[k];
      if (!glob_match(constraint.pattern, input.name)) continue;
      matched = true;
      const std::string by = constraint.to_string();
      const std::string what = "input " + input.name;
      ask(inputs_[k], read(constraint.spec, input.shape, by, what), by, what);
    }
    require<InvalidArgumentError>(matched, kPlace, "{} matches no input; the inputs are {}", constraint.to_string(),
                                  some_names(meta().inputs));
  }

  void constrain_outputs(const Constraint& constraint) {
    bool matched = false;
    for (size_t k = 0; k < outputs_.size(); ++k) {
      const OutputMeta& output = meta().outputs[k];
      if (!glob_match(constraint.pattern, output.name)) continue;
      matched = true;
      const std::string by = constraint.to_string();
      const std::string what = "output " + output.name;
      const SpecPattern pattern = read(constraint.spec, output_shape(k), by, what);
      ask(outputs_[k], pattern, by, what);
      if (!output.feeds_input) continue;
      const auto fed = static_cast<size_t>(*output.feeds_input);
      ask(inputs_[fed], pattern, by, "input " + meta().inputs[fed].name + ", which output " + output.name + " feeds");
      outputs_[k].pattern.reset();
    }
    require<InvalidArgumentError>(matched, kPlace, "{} matches no output; the outputs are {}", constraint.to_string(),
                                  some_names(meta().outputs));
  }

  template <typename Named>
  static std::string some_names(const std::vector<Named>& all) {
    constexpr size_t kShown = 4;
    std::string text;
    for (size_t k = 0; k < std::min(all.size(), kShown); ++k) text += (k == 0 ? "" : ", ") + all[k].name;
    return all.size() > kShown ? text + fmt::format(" and {} more", all.size() - kShown) : text;
  }

  void place_batch(const std::string& axis) {
    const std::string by = "force_batch_dim_to_mesh_dim = " + axis + " (--force-batch-axis)";
    require<InvalidArgumentError>(!divides_the_batch(options_.method) || mesh_.num_axes() == 1, kPlace,
                                  "{} and method {}, which spreads the batch over all axes of mesh {}, contradict each "
                                  "other: leave one of them out, or use a mesh of one axis",
                                  by, name(options_.method), mesh_.to_string());
    bool any = false;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const InputMeta& input = meta().inputs[k];
      if (!input.batch_dim) continue;
      any = true;
      const auto dim = static_cast<size_t>(*input.batch_dim);
      SpecPattern pattern;
      pattern.dims.resize(static_cast<size_t>(input.shape.rank()));
      pattern.dims[dim] = Tile({batch_axis(axis, by)});
      const int64_t parts = sharding::num_shards(*pattern.dims[dim], mesh_);
      require<InvalidArgumentError>(input.shape.dims[dim] > 0 && input.shape.dims[dim] % parts == 0, kPlace,
                                    "{}: the batch of input {} is {}, no multiple of the {} devices of axis {} on mesh "
                                    "{}, {} devices in all; pad the batch, or leave the option out",
                                    by, input.name, input.shape.dims[dim], parts, axis, mesh_.to_string(),
                                    mesh_.num_devices());
      ask(inputs_[k], pattern, by, "input " + input.name);
    }
    require<InvalidArgumentError>(any, kPlace,
                                  "{} places the batch, and no input is known to be one: name it (batch_argnums, or "
                                  "\"role\": \"batch\" and \"batch_dim\" in --meta)",
                                  by);
  }

  void keep_parameters() const {
    require<InvalidArgumentError>(options_.method != Method::kData || options_.search.allow_replicated_parameters,
                                  kPlace,
                                  "allow_replicated_parameters = false (--no-replicated-parameters) and method data, "
                                  "which keeps parameters whole on each device, contradict each other: use method "
                                  "zero3 or shard");
  }

  int batch_axis(const std::string& name, const std::string& by) const {
    const SpecPattern pattern =
        read("(" + name + ")", tensor::Shape(tensor::DType::kF32, {mesh_.num_devices()}), by, "the batch");
    require<InvalidArgumentError>(pattern.dims[0] && pattern.dims[0]->size() == 1, kPlace, "{} is not one axis", by);
    return (*pattern.dims[0])[0];
  }

  std::vector<planner::Pin> asked_by_program() const {
    std::vector<planner::Pin> pins;
    for (hlo::NodeId id = 0; id < static_cast<hlo::NodeId>(program_.graph.nodes.size()); ++id) {
      const hlo::Node& node = program_.graph.nodes[static_cast<size_t>(id)];
      if (node.kind != hlo::Node::Kind::kOperation) continue;
      const hlo::Instruction& instruction = program_.module.computation(node.computation)[node.instruction];
      if (const auto constraint = hlo::sharding_constraint(instruction))
        pins.push_back({id, pattern_of(*constraint, instruction)});
    }
    return pins;
  }

  SpecPattern pattern_of(const hlo::ShardingConstraint& constraint, const hlo::Instruction& instruction) const {
    const std::string where = hlo::op_name(instruction);
    const std::string what = where.empty() ? instruction.name : where;
    const std::string by = "with_sharding_constraint(" + constraint.spec + ")";
    if (!constraint.tiles) return read(constraint.spec, instruction.shape, by, what);
    const int64_t devices = constraint.tiles->type == sharding::OpSharding::Type::kReplicated
                                ? mesh_.num_devices()
                                : static_cast<int64_t>(sharding::tile_devices(*constraint.tiles).size());
    require<InvalidArgumentError>(devices == mesh_.num_devices(), kPlace,
                                  "the program asks for a placement of {} on {} devices, mesh {} has {}: export it for "
                                  "as many, or plan for {}",
                                  what, devices, mesh_.to_string(), mesh_.num_devices(), devices);
    try {
      SpecPattern pattern(sharding::from_op_sharding(*constraint.tiles, instruction.shape.rank(), mesh_));
      for (const int64_t dim : constraint.open_dims) pattern.dims[static_cast<size_t>(dim)].reset();
      sharding::check_pattern(pattern, instruction.shape, mesh_);
      return pattern;
    } catch (const Error& error) {
      raise<InvalidArgumentError>(kPlace,
                                  "the placement that the program asks of {} does not fit mesh {}: {}; give the "
                                  "mesh that it was exported for",
                                  what, mesh_.to_string(), error.what());
    }
  }

  const Program& program_;
  const PlanOptions& options_;
  const mesh::LogicalMesh& mesh_;
  std::vector<Asked> inputs_;
  std::vector<Asked> outputs_;
};

void check_axis_names(const std::vector<std::string>& names) {
  for (size_t k = 0; k < names.size(); ++k) {
    const bool plain = !names[k].empty() && names[k].find_first_of(" \t(),+?*-") == std::string::npos;
    require<InvalidArgumentError>(plain && names[k] != "None", kPlace,
                                  "mesh_axis_names: \"{}\" is no name of an axis: use letters and digits", names[k]);
    require<InvalidArgumentError>(std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(k), names[k]) ==
                                      names.begin() + static_cast<std::ptrdiff_t>(k),
                                  kPlace, "mesh_axis_names: \"{}\" names two axes", names[k]);
  }
}

bool names_an_axis(const Constraint& constraint) {
  for (const auto& dim : sharding::parse_axis_names(constraint.spec)) {
    if (dim && !dim->empty()) return true;
  }
  return false;
}

}  // namespace

PlacementDemands placement_demands(const Program& program, const PlanOptions& options, const mesh::LogicalMesh& mesh) {
  return DemandFinder(program, options, mesh).run();
}

void check_constraints(const PlanOptions& options) {
  check_axis_names(options.axis_names);
  if (options.method != Method::kNone) return;
  for (const auto* constraints : {&options.constraints, &options.output_constraints}) {
    for (const Constraint& constraint : *constraints) {
      require<InvalidArgumentError>(!names_an_axis(constraint), kPlace,
                                    "{} divides arrays, --method none runs on one device: leave one of them away",
                                    constraint.to_string());
    }
  }
}

}  // namespace alpa::compiler
