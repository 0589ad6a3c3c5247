#include "alpa/planner/intra/idle_dims.h"

#include <algorithm>
#include <numeric>

#include "alpa/hlo/flops.h"

namespace alpa::planner {
namespace {

/// Calls `hear(value, dim)` for each dim that a factor runs over.
template <typename Hear>
void for_each_dim(const hlo::Node& node, const Factor& factor, const Hear& hear) {
  for (size_t k = 0; k < factor.operand_dims.size(); ++k) {
    if (factor.operand_dims[k] >= 0) hear(node.operands[k], factor.operand_dims[k]);
  }
  for (size_t k = 0; k < factor.result_dims.size(); ++k) {
    if (factor.result_dims[k] >= 0) hear(node.results[k], factor.result_dims[k]);
  }
}

}  // namespace

IdleDims::IdleDims(const IntraRequest& request, const RuleBook& rules) : graph_(request.graph) {
  int places = 0;
  for (const hlo::Value& value : graph_.values) {
    first_.push_back(places);
    places += value.shape.rank();
  }
  parent_.resize(static_cast<size_t>(places));
  std::iota(parent_.begin(), parent_.end(), 0);
  kept_whole_.resize(parent_.size());
  divided_.resize(parent_.size());
  for (hlo::NodeId id = 0; id < static_cast<hlo::NodeId>(graph_.nodes.size()); ++id)
    generator_.push_back(hlo::is_generator(request.module, graph_, id));
  for (hlo::NodeId id = 0; id < static_cast<hlo::NodeId>(graph_.nodes.size()); ++id) {
    const hlo::Node& node = graph_.nodes[static_cast<size_t>(id)];
    if (generator_[static_cast<size_t>(id)]) continue;
    const ShardingRule& rule = rules.entry(id).rule;
    for (const Factor& factor : rule.factors) join(node, factor);
    const hlo::Instruction& instruction = request.module.computation(node.computation)[node.instruction];
    if (node.kind == hlo::Node::Kind::kOperation && hlo::is_contraction(instruction.opcode))
      note_contraction(node, rule);
  }
  for (const hlo::Tie& tie : graph_.ties) join(tie.from, tie.to);
  for (const Feed& feed : request.feeds)
    join(graph_.outputs.at(static_cast<size_t>(feed.output)), graph_.inputs.at(static_cast<size_t>(feed.input)));
  for (const auto* asked : {&request.pinned_inputs, &request.start_inputs}) {
    for (size_t input = 0; input < asked->size(); ++input) {
      if ((*asked)[input]) note_asked(graph_.inputs[input], *(*asked)[input]);
    }
  }
  for (const Pin& pin : request.pins)
    note_asked(graph_.nodes[static_cast<size_t>(pin.node)].results.at(0), pin.pattern.least());
  for (size_t output = 0; output < request.pinned_outputs.size(); ++output) {
    if (request.pinned_outputs[output]) note_asked(graph_.outputs[output], request.pinned_outputs[output]->least());
  }
  for (int at = 0; at < places; ++at) {
    const auto root = static_cast<size_t>(parent_[static_cast<size_t>(at)] = find(at));
    kept_whole_[root] |= kept_whole_[static_cast<size_t>(at)];
    divided_[root] |= divided_[static_cast<size_t>(at)];
  }
}

int IdleDims::find(int place) {
  while (parent_[static_cast<size_t>(place)] != place) {
    int& parent = parent_[static_cast<size_t>(place)];
    place = parent = parent_[static_cast<size_t>(parent)];
  }
  return place;
}

// Generators take any placement: what their users have in common does not go through them.
void IdleDims::join(const hlo::Node& node, const Factor& factor) {
  int one = -1;
  for_each_dim(node, factor, [&](hlo::ValueId value, int dim) {
    if (generator_[static_cast<size_t>(graph_.values[static_cast<size_t>(value)].producer)]) return;
    const int other = find(place(value, dim));
    if (one >= 0) parent_[static_cast<size_t>(other)] = one;
    one = one < 0 ? other : one;
  });
}

void IdleDims::join(hlo::ValueId from, hlo::ValueId to) {
  if (generator_[static_cast<size_t>(graph_.values[static_cast<size_t>(from)].producer)]) return;
  for (int dim = 0; dim < graph_.values[static_cast<size_t>(from)].shape.rank(); ++dim)
    parent_[static_cast<size_t>(find(place(from, dim)))] = find(place(to, dim));
}

void IdleDims::note_contraction(const hlo::Node& node, const ShardingRule& rule) {
  for (const auto* values : {&node.operands, &node.results}) {
    for (const hlo::ValueId value : *values) {
      const tensor::Shape& shape = graph_.values[static_cast<size_t>(value)].shape;
      for (int dim = 0; dim < shape.rank(); ++dim)
        kept_whole_[static_cast<size_t>(place(value, dim))] |= shape.dims[static_cast<size_t>(dim)] > 1;
    }
  }
  for (const Factor& factor : rule.factors) {
    for_each_dim(node, factor,
                 [&](hlo::ValueId value, int dim) { divided_[static_cast<size_t>(place(value, dim))] = 1; });
  }
}

void IdleDims::note_asked(hlo::ValueId value, const sharding::ShardingSpec& spec) {
  for (int dim = 0; dim < spec.rank(); ++dim)
    divided_[static_cast<size_t>(place(value, dim))] |= !spec.dims[static_cast<size_t>(dim)].empty();
}

bool IdleDims::idle(hlo::ValueId value, int dim) const {
  const auto root = static_cast<size_t>(parent_[static_cast<size_t>(place(value, dim))]);
  return kept_whole_[root] && !divided_[root];
}

bool IdleDims::idle(const hlo::Node& node, const Factor& factor) const {
  bool result = false;
  for_each_dim(node, factor, [&](hlo::ValueId value, int dim) { result = result || idle(value, dim); });
  return result;
}

}  // namespace alpa::planner
