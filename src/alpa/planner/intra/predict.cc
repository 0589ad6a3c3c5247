#include "alpa/planner/intra/predict.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/planner/intra/accumulated_sums.h"
#include "alpa/planner/intra/memory.h"
#include "alpa/planner/intra/output_placements.h"
#include "alpa/planner/intra/predicted_program.h"

namespace alpa::planner {
namespace {

using hlo::Node;
using hlo::NodeId;
using hlo::ValueId;
using sharding::ShardingSpec;

class PlanFiller {
 public:
  PlanFiller(const IntraRequest& request, const Assignment& assignment, plan::Plan& plan)
      : request_(request),
        graph_(request.graph),
        assignment_(assignment),
        plan_(plan),
        reshard_(request.collectives),
        program_(request.collectives.logical_mesh()),
        sums_(accumulated_sums(request)),
        steps_(request.graph.values.size(), -1) {
    for (const hlo::Tie& tie : graph_.ties) ties_to_[node_key(producer(tie.to))].push_back(&tie);
  }

  void run() {
    count_values();
    const auto end = static_cast<int64_t>(graph_.nodes.size()) - 1;
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      if (assignment_.is_generator(id)) {
        generate(graph_.nodes[static_cast<size_t>(id)]);
      } else {
        add_node(id);
      }
    }
    for (const hlo::Tie& tie : graph_.ties) {
      if (!is_forward(tie)) program_.use(cross(tie));
    }
    end_outputs(end);
    for (const Feed& feed : request_.feeds) {
      const ShardingSpec& spec = assignment_.spec(graph_, graph_.inputs[static_cast<size_t>(feed.input)]);
      add_reshard(
          {graph_.outputs[static_cast<size_t>(feed.output)], spec, feed.executions, request_.module.entry, end});
    }
    plan_.objective_seconds = assignment_.objective_seconds;
    plan_.bound_seconds = assignment_.bound_seconds;
    for (const auto& [key, copy] : copies_) occupy(copy.begin, copy.end, copy.bytes);
    int64_t now = 0;
    for (const int64_t change : changes_)
      plan_.predicted_memory_per_device_bytes = std::max(plan_.predicted_memory_per_device_bytes, now += change);
    defer_sums();
    plan_.collectives = std::move(program_).totals();
  }

 private:
  // What feeds an input gets there by itself, as often as it is fed.
  void end_outputs(int64_t end) {
    std::vector<char> fed(graph_.outputs.size(), 0);
    for (const Feed& feed : request_.feeds) fed[static_cast<size_t>(feed.output)] = 1;
    const std::vector<ShardingSpec> placements = output_placements(request_, assignment_, reshard_);
    for (size_t output = 0; output < placements.size(); ++output) {
      const ValueId value = graph_.outputs[output];
      program_.use(fed[output] ? steps_[static_cast<size_t>(value)]
                               : add_reshard({value, placements[output], 1, request_.module.entry, end}));
    }
  }

  // What each device has of a sum is mostly larger than the part of the sum that it keeps: as many sums wait for the
  // last micro-batch as the device has memory for, the largest first.
  void defer_sums() {
    program_.merge_all_reduces();
    std::vector<char> which(accumulators_.size(), true);
    const auto more = program_.bytes_of_deferring(which);
    int64_t room = request_.device_memory_bytes.value_or(std::numeric_limits<int64_t>::max()) -
                   plan_.predicted_memory_per_device_bytes;
    std::vector<size_t> order;
    for (size_t k = 0; k < which.size(); ++k) order.push_back(k);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return more[a].value_or(0) > more[b].value_or(0); });
    // Those that take less make room for the others.
    for (const size_t k : order) room -= std::min<int64_t>(more[k].value_or(0), 0);
    for (const size_t k : order) {
      const int64_t bytes = std::max<int64_t>(more[k].value_or(0), 0);
      which[k] = more[k].has_value() && (bytes == 0 || bytes <= room);
      if (which[k] != 0) room -= bytes;
    }
    const auto chosen = program_.bytes_of_deferring(which);
    for (size_t k = 0; k < which.size(); ++k) {
      plan_.predicted_memory_per_device_bytes += chosen[k].value_or(0);
      if (chosen[k]) plan_.deferred_sums.push_back(accumulators_[k]);
    }
    program_.defer_sums(which);
  }

  // Where the accumulator and its sum lie alike, what is added can be communicated later.
  void add_accumulation(const Node& node, const Strategy& strategy, int32_t step, const Feed& feed) {
    const ValueId accumulator = graph_.inputs[static_cast<size_t>(feed.input)];
    const ShardingSpec& spec = assignment_.spec(graph_, accumulator);
    const ValueId before = node.operands[0];
    const std::vector<ValueId>& chosen = graph_.nodes[static_cast<size_t>(producer(before))].operands;
    const std::vector<ShardingSpec>& wanted = assignment_.strategy(producer(before)).operands;
    for (size_t k = 0; k < chosen.size(); ++k) {
      if (chosen[k] == accumulator && wanted[k] != spec) return;
    }
    if (strategy.results[0] != spec || strategy.operands[0] != spec || assignment_.spec(graph_, before) != spec) return;
    const tensor::Shape& shape = graph_.values[static_cast<size_t>(accumulator)].shape;
    program_.add_accumulation(step, tensor::byte_size(local_shape(shape, spec, request_.collectives.logical_mesh())));
    accumulators_.push_back(key_of(graph_.nodes[static_cast<size_t>(producer(accumulator))]));
  }

  const std::string& key_of(const Node& node) const {
    if (node.kind == Node::Kind::kBranch) {  // the parameter of the branch carries the placement
      const hlo::Instruction& conditional = request_.module.computation(node.computation)[node.instruction];
      const hlo::Computation& branch =
          request_.module.computation(conditional.called.at(static_cast<size_t>(node.branch)));
      return branch[hlo::parameters(branch).at(0)].name;
    }
    return request_.module.computation(node.computation)[node.instruction].name;
  }

  void add_node(NodeId id) {
    const Node& node = graph_.nodes[static_cast<size_t>(id)];
    const Strategy& strategy = assignment_.strategy(id);
    auto& specs = plan_.ops[key_of(node)];
    specs.insert(specs.end(), strategy.results.begin(), strategy.results.end());
    for (const Communication& one : strategy.communication)
      price(one.kind, one.bytes, one.axes, communications(id, node.executions));
    if (node.kind != Node::Kind::kOperation) return enter(id);
    bool differs = false;
    std::vector<int32_t> operands;
    size_t generated = 0;
    for (size_t k = 0; k < node.operands.size(); ++k) {
      const NodeId producer = graph_.values[static_cast<size_t>(node.operands[k])].producer;
      if (assignment_.is_generator(producer)) {
        differs |= strategy.operands[k] != strategy.results[0];
        operands.push_back(steps_[static_cast<size_t>(node.operands[k])]);
        ++generated;
        continue;
      }
      differs |= strategy.operands[k] != assignment_.spec(graph_, node.operands[k]);
      operands.push_back(add_reshard({node.operands[k], strategy.operands[k], node.executions, node.computation, id}));
    }
    const bool by_generated = !node.operands.empty() && assignment_.is_generator(producer(node.operands.back()));
    const StepRole role = role_of(instruction_of(node), operands.size() - generated, by_generated);
    const int32_t step = program_.add_step(role, std::move(operands), sums_.linear_operands[static_cast<size_t>(id)]);
    compute(node, strategy, step);
    const int feed = sums_.feed_of[static_cast<size_t>(id)];
    if (feed >= 0) add_accumulation(node, strategy, step, request_.feeds[static_cast<size_t>(feed)]);
    const hlo::Opcode opcode = instruction_of(node).opcode;
    if (differs || opcode == hlo::Opcode::kOptimizationBarrier) {
      auto& placed = plan_.operands[key_of(node)];
      placed.insert(placed.end(), strategy.operands.begin(), strategy.operands.end());
    }
  }

  const hlo::Instruction& instruction_of(const Node& node) const {
    return request_.module.computation(node.computation)[node.instruction];
  }
  NodeId producer(ValueId value) const { return graph_.values[static_cast<size_t>(value)].producer; }

  // A loop or a branch, all of whose elements begin together.
  using NodeKey = std::tuple<hlo::ComputationId, hlo::InstructionId, int, int>;
  NodeKey node_key(NodeId id) const {
    const Node& node = graph_.nodes[static_cast<size_t>(id)];
    return {node.computation, node.instruction, static_cast<int>(node.kind), node.branch};
  }
  // Else the value comes back from an earlier turn: from the loop's body, or as another element that came into it.
  bool is_forward(const hlo::Tie& tie) const {
    return producer(tie.from) < producer(tie.to) && node_key(producer(tie.from)) != node_key(producer(tie.to));
  }

  int32_t cross(const hlo::Tie& tie) {
    return add_reshard({tie.from, assignment_.spec(graph_, tie.to), tie.executions, tie.computation, crossing(tie)});
  }

  // Of what is no operation: an input, or an element of what comes into a loop or a branch or out of one.
  void enter(NodeId id) {
    const NodeKey key = node_key(id);
    const bool input = graph_.nodes[static_cast<size_t>(id)].kind == Node::Kind::kInput;
    auto known = entered_.find(key);
    if (input || known == entered_.end()) {
      std::vector<int32_t> operands;
      for (const hlo::Tie* tie : ties_to_[key]) {
        if (is_forward(*tie)) operands.push_back(cross(*tie));
      }
      known = entered_.insert_or_assign(key, program_.add_step(StepRole::kOther, std::move(operands))).first;
    }
    for (const ValueId value : graph_.nodes[static_cast<size_t>(id)].results)
      steps_[static_cast<size_t>(value)] = program_.add_step(StepRole::kOther, {known->second});
  }

  // A scalar made larger needs the scalar.
  void generate(const Node& node) {
    std::vector<int32_t> operands;
    for (const ValueId operand : node.operands) operands.push_back(steps_[static_cast<size_t>(operand)]);
    const int32_t step = program_.add_step(StepRole::kOther, std::move(operands));
    for (const ValueId value : node.results) steps_[static_cast<size_t>(value)] = step;
  }

  // What the partitioner makes of a sum that is scattered: an all-reduce, of which each device keeps a part.
  static std::vector<Communication> before_passes(const Strategy& strategy) {
    const std::vector<Communication>& all = strategy.communication;
    if (all.empty() || all.front().kind != hlo::Opcode::kReduceScatter) return all;
    Communication whole = all.front();
    whole.kind = hlo::Opcode::kAllReduce;
    for (size_t k = 1; k < all.size(); ++k) whole.axes.insert(whole.axes.end(), all[k].axes.begin(), all[k].axes.end());
    return {whole};
  }

  int32_t slice_scattered(const Strategy& strategy, const tensor::Shape& shape, int32_t step) {
    for (const Communication& one : strategy.communication) {
      if (one.kind != hlo::Opcode::kReduceScatter) continue;
      const ShardingSpec summed = strategy.results[0].without(one.axes);
      for (const sharding::ReshardStep& slice : reshard_.steps(shape, summed, strategy.results[0]))
        step = program_.add_slice(step, *slice.result.dim_of(slice.axes.front()), slice.axes);
    }
    return step;
  }

  void compute(const Node& node, const Strategy& strategy, int32_t step) {
    const hlo::Instruction& instruction = instruction_of(node);
    const std::string reduction = reduction_of(instruction);
    for (const Communication& one : before_passes(strategy)) {
      const tensor::Shape& shape = graph_.values[static_cast<size_t>(node.results.at(0))].shape;
      PredictedCollective collective{one.kind,           one.bytes,       one.axes,        {},
                                     reduction == "add", node.executions, node.computation};
      collective.operands = std::string(tensor::name(shape.dtype));
      collective.sum_factor = sum_factor(shape.dtype);
      if (one.kind == hlo::Opcode::kAllReduce) collective.operands += " " + reduction;
      step = program_.add_collective(std::move(collective), step);
      step = slice_scattered(strategy, shape, step);
    }
    for (const ValueId value : node.results) steps_[static_cast<size_t>(value)] = step;
  }

  // `others`: operands that are not the same on all devices by themselves; `by_generated`: the last one is.
  static StepRole role_of(const hlo::Instruction& instruction, size_t others, bool by_generated) {
    switch (instruction.opcode) {
      case hlo::Opcode::kReshape:
      case hlo::Opcode::kTranspose:
      case hlo::Opcode::kCopy:
      case hlo::Opcode::kNegate: return others == 1 ? StepRole::kMove : StepRole::kOther;
      case hlo::Opcode::kMultiply: return others == 1 ? StepRole::kScale : StepRole::kOther;
      case hlo::Opcode::kDivide: return others == 1 && by_generated ? StepRole::kScale : StepRole::kOther;
      case hlo::Opcode::kConvert: return StepRole::kConvert;
      case hlo::Opcode::kAdd:
      case hlo::Opcode::kSubtract: return others == 2 ? StepRole::kSum : StepRole::kOther;
      default: return StepRole::kOther;
    }
  }

  std::string reduction_of(const hlo::Instruction& instruction) const {
    if (instruction.opcode == hlo::Opcode::kDot || instruction.opcode == hlo::Opcode::kConvolution) return "add";
    if (instruction.called.empty()) return instruction.name;  // is not known, and equals no other
    const hlo::Computation& reducer = request_.module.computation(instruction.called.back());
    return std::string(hlo::name(reducer[reducer.root].opcode));
  }

  struct Reshard {
    ValueId value;
    ShardingSpec to;
    double executions;
    hlo::ComputationId computation;  ///< Where it is made.
    int64_t at;                      ///< Node that uses it.
  };
  // What a collective of a change of placement makes: there from its first use to its last.
  struct Copy {
    int64_t bytes = 0;
    int64_t begin = 0;
    int64_t end = 0;
  };

  // The step that gives the value in its new placement.
  int32_t add_reshard(const Reshard& request) {
    const ValueId value = request.value;
    int32_t at = steps_[static_cast<size_t>(value)];
    if (assignment_.is_generator(producer(value))) return at;
    const tensor::Shape& shape = graph_.values[static_cast<size_t>(value)].shape;
    const mesh::LogicalMesh& mesh = request_.collectives.logical_mesh();
    ShardingSpec before = assignment_.spec(graph_, value);
    if (before == request.to) return at;
    for (const sharding::ReshardStep& step : reshard_.steps(shape, before, request.to)) {
      const auto [known, made] = placed_.try_emplace({request.computation, request.executions, value, step.result}, -1);
      const bool moves = step.kind != sharding::ReshardStep::Kind::kSlice;
      if (moves) {
        Copy& copy = copies_.try_emplace(known->first, Copy{0, request.at, request.at + 1}).first->second;
        copy.bytes = tensor::byte_size(local_shape(shape, step.result, mesh));
        copy.begin = std::min(copy.begin, request.at);
        copy.end = std::max(copy.end, request.at + 1);
      }
      if (made && moves) {
        PredictedCollective one{cost::opcode_of(step.kind),
                                step_bytes(shape, before, step, mesh),
                                step.axes,
                                std::string(tensor::name(shape.dtype)),
                                false,
                                request.executions,
                                request.computation};
        one.rearranged = is_inner(shape, before, step);
        one.sum_factor = sum_factor(shape.dtype);
        price(one.kind, one.bytes, one.axes, communications(producer(value), request.executions));
        known->second = program_.add_collective(one, at);
      } else if (made) {
        known->second = program_.add_slice(at, *step.result.dim_of(step.axes.front()), step.axes);
      }
      at = known->second;
      before = step.result;
    }
    return at;
  }

  // True if the dims before the one that changes hold more than one element.
  bool is_inner(const tensor::Shape& shape, const ShardingSpec& before, const sharding::ReshardStep& step) const {
    const tensor::Shape local = local_shape(shape, step.result, request_.collectives.logical_mesh());
    int64_t outer = 1;
    for (size_t dim = 0; dim < before.dims.size() && before.dims[dim] == step.result.dims[dim]; ++dim)
      outer *= local.dims[dim];
    return outer > 1;
  }

  // A value that becomes another is placed anew where it is made, if that comes after (the end of a loop's turn), or
  // where the other begins.
  int64_t crossing(const hlo::Tie& tie) const {
    const auto producer = [&](ValueId value) { return graph_.values[static_cast<size_t>(value)].producer; };
    return std::max(producer(tie.from), producer(tie.to));
  }

  void occupy(int64_t begin, int64_t end, int64_t bytes) {
    changes_[static_cast<size_t>(begin)] += bytes;
    changes_[static_cast<size_t>(end)] -= bytes;
  }

  void count_values() {
    changes_.assign(graph_.nodes.size() + 1, 0);
    const std::vector<Lifetime> lives = lifetimes(request_.module, graph_);
    std::vector<int64_t> copies(graph_.nodes.size(), 1);
    for (size_t input = 0; input < request_.input_copies.size(); ++input)
      copies[static_cast<size_t>(graph_.values[static_cast<size_t>(graph_.inputs[input])].producer)] =
          request_.input_copies[input];
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      const Lifetime& life = lives[static_cast<size_t>(id)];
      if (assignment_.is_generator(id) || !life.occupies) continue;
      for (const ValueId value : graph_.nodes[static_cast<size_t>(id)].results) {
        const tensor::Shape& shape = graph_.values[static_cast<size_t>(value)].shape;
        if (!shape.is_array()) continue;
        const auto local = local_shape(shape, assignment_.spec(graph_, value), request_.collectives.logical_mesh());
        occupy(life.begin, life.end, copies[static_cast<size_t>(id)] * tensor::byte_size(local));
      }
    }
  }

  // Sums over micro-batches of floats below 32 bits are kept in f32.
  static int64_t sum_factor(tensor::DType dtype) {
    return tensor::is_floating(dtype) ? std::max(32 / tensor::bit_width(dtype), 1) : 1;
  }

  // How often a step communicates the node's results; `otherwise`: if they need not wait for the last micro-batch.
  double communications(NodeId id, double otherwise) const {
    return sums_.absorbed[static_cast<size_t>(id)] ? 1 : otherwise;
  }

  // As planned, each collective by itself.
  void price(hlo::Opcode kind, int64_t bytes, const std::vector<int>& axes, double executions) {
    plan_.communication_seconds += executions * request_.collectives.seconds(kind, bytes, axes);
  }

  const IntraRequest& request_;
  const hlo::ValueGraph& graph_;
  const Assignment& assignment_;
  plan::Plan& plan_;
  cost::ReshardModel reshard_;
  /// By where they are made and how often: what runs once a micro-batch and once a step is in two programs.
  using Placed = std::tuple<hlo::ComputationId, double, ValueId, ShardingSpec>;
  std::map<Placed, Copy> copies_;
  std::map<Placed, int32_t> placed_;  ///< Steps of the predicted program.
  PredictedProgram program_;
  const AccumulatedSums sums_;
  std::vector<std::string> accumulators_;  ///< Of program_, by number: parameters.
  std::vector<int32_t> steps_;             ///< By value.
  std::map<NodeKey, std::vector<const hlo::Tie*>> ties_to_;
  std::map<NodeKey, int32_t> entered_;
  std::vector<int64_t> changes_;  ///< Of the bytes alive, by node.
};

}  // namespace

void fill_plan(const IntraRequest& request, const Assignment& assignment, plan::Plan& plan) {
  PlanFiller(request, assignment, plan).run();
}

}  // namespace alpa::planner
