#include "alpa/planner/intra/predict.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/planner/intra/accumulated_sums.h"
#include "alpa/planner/intra/build_device_program.h"
#include "alpa/planner/intra/carried_sums.h"
#include "alpa/planner/intra/compiled_order.h"
#include "alpa/planner/intra/device_memory.h"
#include "alpa/planner/intra/output_placements.h"
#include "alpa/planner/intra/predicted_parts.h"
#include "alpa/planner/intra/predicted_program.h"
#include "alpa/planner/intra/step_role.h"

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
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      if (!assignment_.is_generator(id)) add_node(id);
    }
    for (const hlo::Tie& tie : graph_.ties) {
      if (is_forward(tie)) continue;
      const int32_t next = cross(tie);
      program_.use(next);
      next_.emplace(tie.to, next);
    }
    const std::vector<int32_t> outputs = end_outputs();
    plan_.objective_seconds = assignment_.objective_seconds;
    plan_.bound_seconds = assignment_.bound_seconds;
    add_loop_sums();
    program_.hoist_added();
    if (request_.micro_batches) return fill_of_parts(outputs);
    program_.run_passes();
    plan_.collectives = program_.totals();
    plan_.predicted_memory_per_device_bytes = memory(program_, program_frame(program_, outputs));
  }

 private:
  void fill_of_parts(const std::vector<int32_t>& outputs) {
    const std::vector<char> deferred = choose_deferred(outputs);
    const Deferral deferral = deferring(deferred).deferral(deferred);
    for (size_t k = 0; k < accumulators_.size(); ++k) {
      if (!deferral.leaves[k].empty()) plan_.deferred_sums.push_back(accumulators_[k]);
    }
    const PredictedParts parts = finished_parts(outputs, deferred);
    plan_.collectives = parts.accumulate.program.totals();
    for (const auto& [kind, total] : parts.apply.program.totals()) {
      plan_.collectives[kind].count += total.count;
      plan_.collectives[kind].bytes += total.bytes;
    }
    plan_.predicted_memory_per_device_bytes = memory(parts);
  }

  // What lies on the way to accumulators in loops comes after them then.
  PredictedProgram deferring(const std::vector<char>& which) const {
    PredictedProgram program = program_;
    program.hoist_rows(which, request_.module.entry);
    program.merge_all_reduces();
    return program;
  }

  PredictedParts finished_parts(const std::vector<int32_t>& outputs, const std::vector<char>& deferred) const {
    const PredictedProgram program = deferring(deferred);
    const ProgramFrame frame = program_frame(program, outputs);
    PredictedParts parts =
        predicted_parts({program, frame, outside(program, held_), *request_.micro_batches}, deferred);
    for (PredictedPart* part : {&parts.accumulate, &parts.apply}) part->program.run_passes();
    return parts;
  }

  static std::vector<int32_t> outside(const PredictedProgram& program, std::vector<int32_t> steps) {
    for (int32_t& step : steps) step = program.outside(step);
    return steps;
  }

  // What each device has of a sum is mostly larger than the part of the sum that it keeps: as many sums wait for the
  // last micro-batch as the device has memory for, the largest first.
  std::vector<char> choose_deferred(const std::vector<int32_t>& outputs) const {
    constexpr int kTries = 4;
    std::vector<char> best(accumulators_.size(), false);
    if (accumulators_.empty()) return best;
    const int64_t most = request_.device_memory_bytes.value_or(std::numeric_limits<int64_t>::max());
    const auto needed = [&](const std::vector<char>& which) { return memory(finished_parts(outputs, which)); };
    int64_t least = needed(best), room = most - least;
    for (int tried = 0; tried < kTries; ++tried, room = tried + 1 < kTries ? room / 2 : 0) {
      std::vector<char> which = deferred_within(room);
      const int64_t bytes = needed(which);
      if (bytes <= most) return which;
      if (bytes < std::exchange(least, std::min(least, bytes))) best = std::move(which);
    }
    return best;
  }

  std::vector<char> deferred_within(int64_t room) const {
    std::vector<char> which(accumulators_.size(), true);
    const auto more = deferring(which).bytes_of_deferring(which);
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
    return which;
  }

  // Where a sum lies in a loop as it does when it is carried on.
  void add_loop_sums() {
    for (const CarriedSum& sum : carried_sums(request_.module, graph_)) {
      const ShardingSpec& spec = assignment_.spec(graph_, sum.carry);
      const Strategy& strategy = assignment_.strategy(sum.update);
      const int32_t update = next_.at(sum.carry);
      const bool in_place =
          strategy.results[0] == spec && strategy.operands[sum.carried] == spec &&
          steps_[static_cast<size_t>(graph_.nodes[static_cast<size_t>(sum.update)].results[0])] == update;
      if (!in_place || (sum.rows > 0 && !spec.dims[0].empty())) continue;
      PredictedLoopSum one{
          steps_[static_cast<size_t>(sum.carry)], update, sum.addend, sum.rows, sum.row, 0, sum.caller, sum.executions};
      one.loop = entered_.at(node_key(producer(sum.carry)));
      program_.add_loop_sum(one);
    }
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
      const bool generator = assignment_.is_generator(producer);
      differs |= strategy.operands[k] != (generator ? strategy.results[0] : assignment_.spec(graph_, node.operands[k]));
      generated += generator;
      operands.push_back(add_reshard({node.operands[k], strategy.operands[k], node.executions, node.computation}));
    }
    const bool by_generated = !node.operands.empty() && assignment_.is_generator(producer(node.operands.back()));
    const StepRole role = role_of(instruction_of(node), operands.size() - generated, by_generated);
    arrange(node, strategy, operands);
    if (instruction_of(node).opcode == hlo::Opcode::kOptimizationBarrier) operands.push_back(steps_[waits_for(node)]);
    const int32_t step = program_.add_step(role, std::move(operands), sums_.linear_operands[static_cast<size_t>(id)],
                                           made_by(id, strategy));
    compute(node, strategy, arrange_result(node, step));
    const int feed = sums_.feed_of[static_cast<size_t>(id)];
    if (feed >= 0) add_accumulation(node, strategy, step, request_.feeds[static_cast<size_t>(feed)]);
    const hlo::Opcode opcode = instruction_of(node).opcode;
    if (differs || opcode == hlo::Opcode::kOptimizationBarrier) {
      auto& placed = plan_.operands[key_of(node)];
      placed.insert(placed.end(), strategy.operands.begin(), strategy.operands.end());
    }
  }

  // Of a barrier's arrays, which come together, the last: that of rematerialization holds there what it waits for.
  size_t waits_for(const Node& barrier) const {
    const auto& leaves = graph_.leaves[static_cast<size_t>(barrier.computation)];
    return static_cast<size_t>(leaves[static_cast<size_t>(instruction_of(barrier).operands[0])].back());
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
    return add_reshard({tie.from, assignment_.spec(graph_, tie.to), tie.executions, tie.computation});
  }

  // Of what is no operation: an input, or an element of what comes into a loop or a branch or out of one.
  void enter(NodeId id) {
    const Node& node = graph_.nodes[static_cast<size_t>(id)];
    if (node.kind == Node::Kind::kInput) {
      const ValueId value = node.results.at(0);
      const StepResult result = result_of(hlo::Opcode::kParameter, value, assignment_.spec(graph_, value), id);
      steps_[static_cast<size_t>(value)] = program_.add_step(StepRole::kOther, {}, {}, result);
      return;
    }
    const NodeKey key = node_key(id);
    auto known = entered_.find(key);
    if (known == entered_.end()) {
      std::vector<int32_t> operands;
      for (const hlo::Tie* tie : ties_to_[key]) {
        if (is_forward(*tie)) operands.push_back(cross(*tie));
      }
      known = entered_.insert_or_assign(key, program_.add_step(StepRole::kOther, std::move(operands))).first;
    }
    for (const ValueId value : node.results) {
      const StepResult result = result_of(hlo::Opcode::kGetTupleElement, value, assignment_.spec(graph_, value), id);
      steps_[static_cast<size_t>(value)] = program_.add_step(StepRole::kOther, {known->second}, {}, result);
      elements_[key].push_back(value);
    }
  }

  // A scalar made larger needs the scalar. Each placement is made anew where it is wanted.
  int32_t generate(ValueId value, const ShardingSpec& spec) {
    const auto [known, made] = generated_.try_emplace({value, spec}, -1);
    if (!made) return known->second;
    const Node& node = graph_.nodes[static_cast<size_t>(producer(value))];
    std::vector<int32_t> operands;
    for (const ValueId operand : node.operands) operands.push_back(steps_[static_cast<size_t>(operand)]);
    const StepResult result = result_of(instruction_of(node).opcode, value, spec, producer(value));
    return known->second = program_.add_step(StepRole::kOther, std::move(operands), {}, result);
  }

  // An array of the value's shape in a placement.
  StepResult result_of(hlo::Opcode opcode, ValueId value, const ShardingSpec& spec, NodeId origin) const {
    const Node& node = graph_.nodes[static_cast<size_t>(producer(value))];
    StepResult result{opcode, 0, 0, node.computation, origin};
    const tensor::Shape& shape = graph_.values[static_cast<size_t>(value)].shape;
    if (!shape.is_array()) return result;
    const tensor::Shape local = local_shape(shape, spec, request_.collectives.logical_mesh());
    result.bytes = tensor::byte_size(local);
    result.elements = tensor::num_elements(local);
    return result;
  }

  // What an operation makes before anything is exchanged.
  StepResult made_by(NodeId id, const Strategy& strategy) const {
    const Node& node = graph_.nodes[static_cast<size_t>(id)];
    StepResult all{memory_opcode(node), 0, 0, node.computation, id};
    for (size_t k = 0; k < node.results.size(); ++k) {
      ShardingSpec spec = strategy.results[k];
      for (const Communication& one : strategy.communication) {
        if (one.kind == hlo::Opcode::kReduceScatter) spec = spec.without(one.axes);
      }
      const StepResult one = result_of(all.opcode, node.results[k], spec, id);
      all.bytes += one.bytes;
      all.elements += one.elements;
    }
    return all;
  }

  hlo::Opcode memory_opcode(const Node& node) const {
    const hlo::Opcode opcode = instruction_of(node).opcode;
    if (opcode == hlo::Opcode::kSelectAndScatter) return hlo::Opcode::kScatter;
    if (opcode == hlo::Opcode::kDivide && divides_by_constant(node)) return hlo::Opcode::kMultiply;
    const bool same = opcode == hlo::Opcode::kReshape || opcode == hlo::Opcode::kCopy;
    return same ? hlo::Opcode::kBitcast : opcode;
  }

  // The compiler multiplies by the inverse then, which is cheap.
  bool divides_by_constant(const Node& node) const {
    const hlo::Computation& computation = request_.module.computation(node.computation);
    const hlo::Instruction* divisor = &computation[computation[node.instruction].operands[1]];
    if (divisor->opcode == hlo::Opcode::kBroadcast) divisor = &computation[divisor->operands[0]];
    return divisor->opcode == hlo::Opcode::kConstant && tensor::is_floating(divisor->shape.dtype);
  }

  // What the CPU's compiler computes in another form than it stands there: writes operands anew, where they are to be.
  void arrange(const Node& node, const Strategy& strategy, std::vector<int32_t>& operands) {
    const hlo::Instruction& instruction = instruction_of(node);
    const auto transpose = [&](size_t k, const std::vector<int64_t>& order) {
      const ValueId value = node.operands[k];
      StepResult result = result_of(hlo::Opcode::kTranspose, value, strategy.operands[k], producer(value));
      result.computation = node.computation;
      if (moves_elements(local(value, strategy.operands[k]), order))
        operands[k] = program_.add_step(StepRole::kOther, {operands[k]}, {0}, result);
    };
    for (const auto& [operand, order] : compiled_operand_orders(instruction, shapes_of(node.operands)))
      transpose(operand, order);
    if (instruction.opcode == hlo::Opcode::kSelectAndScatter) select_first(node, strategy, operands);
  }

  // Selects and scatters in two operations: the places selected, as indices, depend on the operand alone.
  void select_first(const Node& node, const Strategy& strategy, std::vector<int32_t>& operands) {
    const tensor::Shape source = local(node.operands[1], strategy.operands[1]);
    StepResult places{hlo::Opcode::kSelectAndScatter, 0, 0, node.computation, producer(node.results[0])};
    places.elements = source.rank() * tensor::num_elements(source);
    places.bytes = places.elements * static_cast<int64_t>(sizeof(int32_t));
    StepResult start = result_of(hlo::Opcode::kBroadcast, node.operands[0], strategy.operands[0], places.origin);
    start.computation = node.computation;
    operands[0] = program_.add_step(StepRole::kOther, {operands[0]}, {}, places);
    operands[2] = program_.add_step(StepRole::kOther, {operands[2]}, {}, start);
    std::swap(operands[0], operands[2]);
  }

  tensor::Shape local(ValueId value, const ShardingSpec& spec) const {
    return local_shape(graph_.values[static_cast<size_t>(value)].shape, spec, request_.collectives.logical_mesh());
  }

  std::vector<tensor::Shape> shapes_of(const std::vector<ValueId>& values) const {
    std::vector<tensor::Shape> shapes;
    for (const ValueId value : values) shapes.push_back(graph_.values[static_cast<size_t>(value)].shape);
    return shapes;
  }

  // The step that gives a convolution's result as its dims are.
  int32_t arrange_result(const Node& node, int32_t step) {
    const std::vector<int64_t> order = compiled_result_order(instruction_of(node));
    StepResult result = program_.steps()[static_cast<size_t>(step)].result;
    if (order.empty() || !moves_elements(graph_.values[static_cast<size_t>(node.results[0])].shape, order)) return step;
    result.opcode = hlo::Opcode::kTranspose;
    return program_.add_step(StepRole::kOther, {step}, {0}, result);
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

  StepResult sliced(ValueId value, const ShardingSpec& spec, hlo::ComputationId computation) const {
    StepResult result = result_of(hlo::Opcode::kDynamicSlice, value, spec, producer(value));
    result.computation = computation;
    return result;
  }

  int32_t slice_scattered(const Node& node, const Strategy& strategy, int32_t step) {
    const tensor::Shape& shape = graph_.values[static_cast<size_t>(node.results.at(0))].shape;
    for (const Communication& one : strategy.communication) {
      if (one.kind != hlo::Opcode::kReduceScatter) continue;
      const ShardingSpec summed = strategy.results[0].without(one.axes);
      for (const sharding::ReshardStep& slice : reshard_.steps(shape, summed, strategy.results[0]))
        step = program_.add_slice(step, *slice.result.dim_of(slice.axes.front()), slice.axes,
                                  sliced(node.results.at(0), slice.result, node.computation));
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
      step = program_.add_collective(std::move(collective), step, program_.steps()[static_cast<size_t>(step)].result);
      step = slice_scattered(node, strategy, step);
    }
    for (const ValueId value : node.results) steps_[static_cast<size_t>(value)] = step;
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
  };

  // The step that gives the value in its new placement.
  int32_t add_reshard(const Reshard& request) {
    const ValueId value = request.value;
    if (assignment_.is_generator(producer(value))) return generate(value, request.to);
    int32_t at = steps_[static_cast<size_t>(value)];
    const tensor::Shape& shape = graph_.values[static_cast<size_t>(value)].shape;
    const mesh::LogicalMesh& mesh = request_.collectives.logical_mesh();
    ShardingSpec before = assignment_.spec(graph_, value);
    if (before == request.to) return at;
    for (const sharding::ReshardStep& step : reshard_.steps(shape, before, request.to)) {
      const auto [known, made] = placed_.try_emplace({request.computation, request.executions, value, step.result}, -1);
      const bool moves = step.kind != sharding::ReshardStep::Kind::kSlice;
      if (made && moves) {
        PredictedCollective one{cost::opcode_of(step.kind),
                                step_bytes(shape, before, step, mesh),
                                step.axes,
                                std::string(tensor::name(shape.dtype)),
                                false,
                                request.executions,
                                request.computation};
        one.rearranged = is_inner(shape, before, step);
        if (one.kind == hlo::Opcode::kAllGather) one.gathered_dim = before.dim_of(step.axes.front()).value_or(-1);
        one.sum_factor = sum_factor(shape.dtype);
        price(one.kind, one.bytes, one.axes, communications(producer(value), request.executions));
        known->second = program_.add_collective(one, at, sliced(value, step.result, request.computation));
      } else if (made) {
        known->second = program_.add_slice(at, *step.result.dim_of(step.axes.front()), step.axes,
                                           sliced(value, step.result, request.computation));
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

  // By output, the step that gives it where it must end up. What feeds an input gets there as often as it is fed.
  std::vector<int32_t> end_outputs() {
    std::vector<const Feed*> feeds(graph_.outputs.size());
    for (const Feed& feed : request_.feeds) feeds[static_cast<size_t>(feed.output)] = &feed;
    const std::vector<ShardingSpec> placements = output_placements(request_, assignment_, reshard_);
    std::vector<int32_t> ends;
    for (size_t output = 0; output < placements.size(); ++output) {
      const Feed* feed = feeds[output];
      const ValueId value = graph_.outputs[output];
      const double executions = feed != nullptr ? feed->executions : 1;
      ends.push_back(add_reshard({value, placements[output], executions, request_.module.entry}));
      held_.push_back(feed != nullptr && !assignment_.is_generator(producer(value)) ? steps_[static_cast<size_t>(value)]
                                                                                    : ends.back());
      program_.use(held_.back());
    }
    return ends;
  }

  std::vector<int32_t> steps_of(const std::vector<ValueId>& values) const {
    std::vector<int32_t> steps;
    for (const ValueId value : values) steps.push_back(steps_[static_cast<size_t>(value)]);
    return steps;
  }

  Region loop(const PredictedProgram& program, const NodeKey& key) const {
    const auto& [computation, instruction, kind, branch] = key;
    const std::vector<ValueId>& carries = elements_.at(key);
    Region region{hlo::Opcode::kWhile,
                  computation,
                  program.steps()[static_cast<size_t>(entered_.at(key))].operands,
                  steps_of(carries),
                  {}};
    RegionBody body{request_.module.computation(computation)[instruction].called.at(0), region.results, {}};
    for (const ValueId carry : carries) body.roots.push_back(program.outside(next_.at(carry)));
    region.bodies.push_back(std::move(body));
    return region;
  }

  Region conditional(const PredictedProgram& program, const NodeKey& key) const {
    const auto& [computation, instruction, kind, branch] = key;
    Region region{hlo::Opcode::kConditional, computation, {}, steps_of(elements_.at(key)), {}};
    const std::vector<int32_t>& roots = program.steps()[static_cast<size_t>(entered_.at(key))].operands;
    const std::vector<hlo::ComputationId>& called = request_.module.computation(computation)[instruction].called;
    auto root = roots.begin();
    for (size_t k = 0; k < called.size(); ++k) {
      const NodeKey inside{computation, instruction, static_cast<int>(Node::Kind::kBranch), static_cast<int>(k)};
      RegionBody body{called[k], {}, {root, root + static_cast<std::ptrdiff_t>(region.results.size())}};
      root += static_cast<std::ptrdiff_t>(region.results.size());
      if (entered_.contains(inside)) {
        body.parameters = steps_of(elements_.at(inside));
        const std::vector<int32_t>& inits = program.steps()[static_cast<size_t>(entered_.at(inside))].operands;
        region.inits.insert(region.inits.end(), inits.begin(), inits.end());
      }
      region.bodies.push_back(std::move(body));
    }
    return region;
  }

  ProgramFrame program_frame(const PredictedProgram& program, const std::vector<int32_t>& outputs) const {
    ProgramFrame frame{static_cast<int32_t>(request_.module.computations.size()),
                       request_.module.entry,
                       {},
                       steps_of(graph_.inputs),
                       outside(program, outputs),
                       {}};
    for (const auto& [key, values] : elements_) {
      const auto kind = static_cast<Node::Kind>(std::get<2>(key));
      if (kind == Node::Kind::kCarry) frame.regions.push_back(loop(program, key));
      if (kind == Node::Kind::kJoin) frame.regions.push_back(conditional(program, key));
    }
    for (const hlo::Alias& alias : hlo::input_output_aliases(request_.module))
      frame.aliases.push_back({static_cast<int32_t>(alias.output), static_cast<int32_t>(alias.parameter)});
    return frame;
  }

  // Of a device.
  int64_t memory(const PredictedProgram& program, const ProgramFrame& frame) const {
    return memory_of(build_device_program(program, frame), request_.compiler).total();
  }

  // With the inputs of the step that lie beside a part: all micro-batches are there all the time.
  int64_t memory(const PredictedPart& part) const {
    int64_t bytes = memory(part.program, part.frame);
    for (size_t input = 0; input < request_.micro_batches->num_inputs; ++input) {
      const auto& taken = part.step_inputs;
      const auto here = static_cast<int64_t>(std::count(taken.begin(), taken.end(), input));
      const int64_t copies = request_.input_copies.empty() ? 1 : request_.input_copies[input];
      const int32_t step = steps_[static_cast<size_t>(graph_.inputs[input])];
      bytes += (copies - here) * program_.steps()[static_cast<size_t>(step)].result.bytes;
    }
    return bytes;
  }

  int64_t memory(const PredictedParts& parts) const { return std::max(memory(parts.accumulate), memory(parts.apply)); }

  // How often a step communicates the node's results; `otherwise`: if they go into no sums.
  double communications(NodeId id, double otherwise) const {
    return sums_.communications[static_cast<size_t>(id)].value_or(otherwise);
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
  std::map<Placed, int32_t> placed_;  ///< Steps of the predicted program.
  std::map<std::pair<ValueId, ShardingSpec>, int32_t> generated_;
  PredictedProgram program_;
  const AccumulatedSums sums_;
  std::vector<std::string> accumulators_;  ///< Of program_, by number: parameters.
  std::vector<int32_t> steps_;             ///< By value.
  std::vector<int32_t> held_;              ///< By output, the step that something outside wants.
  std::map<NodeKey, std::vector<const hlo::Tie*>> ties_to_;
  std::map<NodeKey, int32_t> entered_;
  std::map<NodeKey, std::vector<ValueId>> elements_;
  std::map<ValueId, int32_t> next_;  ///< By carry, the step that makes its value of the next turn.
};

}  // namespace

void fill_plan(const IntraRequest& request, const Assignment& assignment, plan::Plan& plan) {
  PlanFiller(request, assignment, plan).run();
}

}  // namespace alpa::planner
