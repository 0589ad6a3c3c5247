#include "alpa/planner/intra/build_device_program.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace alpa::planner {
namespace {

using hlo::Opcode;

constexpr DeviceValue kNothing{-1, 0};

size_t index(int32_t id) { return static_cast<size_t>(id); }

class Builder {
 public:
  Builder(const PredictedProgram& predicted, const ProgramFrame& frame)
      : predicted_(predicted), frame_(frame), steps_(predicted.steps()), values_(steps_.size(), kNothing) {
    program_.computations.resize(index(frame.num_computations));
    program_.entry = frame.entry;
    program_.aliases = frame.aliases;
  }

  DeviceProgram run() {
    index_groups();
    for (const int32_t input : frame_.inputs) {
      values_[index(input)] = add(frame_.entry, {Opcode::kParameter, {}, {array(input)}, {}, origin(input)});
      program_.computations[index(frame_.entry)].parameters.push_back(values_[index(input)].op);
    }
    reached_.insert(frame_.entry);
    for (const Region& region : frame_.regions) open(region);
    for (int32_t number = 0; number < static_cast<int32_t>(steps_.size()); ++number) {
      const auto region = region_of_.find(number);
      if (region != region_of_.end()) {
        close(*region->second);
      } else if (values_[index(number)] == kNothing) {
        visit(number);
      }
    }
    for (const Region& region : frame_.regions) {
      for (const RegionBody& body : region.bodies) {
        for (const int32_t root : body.roots)
          program_.computations[index(body.computation)].roots.push_back(value(root, body.computation));
      }
    }
    for (const int32_t output : frame_.outputs)
      program_.computations[index(frame_.entry)].roots.push_back(value(output, frame_.entry));
    for (DeviceComputation& computation : program_.computations) sort(computation);
    return std::move(program_);
  }

 private:
  const PredictedStep& step(int32_t number) const { return steps_[index(number)]; }
  int32_t origin(int32_t number) const { return step(number).result.origin; }
  DeviceArray array(int32_t number) const { return {step(number).result.bytes, step(number).result.elements}; }

  DeviceValue add(int32_t computation, DeviceOp op) {
    auto& ops = program_.computations[index(computation)].ops;
    ops.push_back(std::move(op));
    return {static_cast<int32_t>(ops.size()) - 1, 0};
  }
  DeviceOp& op(int32_t computation, const DeviceValue& value) {
    return program_.computations[index(computation)].ops[index(value.op)];
  }

  // A carry is a parameter to the loop's body and a result to those outside.
  DeviceValue value(int32_t number, int32_t computation) const {
    const auto inside = parameters_.find({computation, number});
    return inside != parameters_.end() ? inside->second : values_[index(number)];
  }

  void index_groups() {
    const auto& groups = predicted_.groups();
    for (size_t group = 0; group < groups.size(); ++group) {
      for (const PredictedMember& member : groups[group])
        group_of_[{member.step, member.collective}] = static_cast<int32_t>(group);
    }
    made_.assign(groups.size(), kNothing);
  }

  void open(const Region& region) {
    for (const RegionBody& body : region.bodies) {
      reached_.insert(body.computation);
      DeviceComputation& computation = program_.computations[index(body.computation)];
      for (const int32_t parameter : body.parameters) {
        const DeviceValue made =
            add(body.computation, {Opcode::kParameter, {}, {array(parameter)}, {}, origin(parameter)});
        computation.parameters.push_back(made.op);
        parameters_[{body.computation, parameter}] = made;
      }
    }
    for (const int32_t result : region.results) region_of_[result] = &region;
  }

  void close(const Region& region) {
    if (region.results.empty() || values_[index(region.results.front())] != kNothing) return;
    DeviceOp made{region.opcode, {}, {}, {}, origin(region.results.front())};
    for (size_t k = 0; k < region.inits.size(); ++k) {
      const bool zeros = region.opcode == Opcode::kWhile && step(region.results[k]).from_zeros;
      made.operands.push_back(zeros ? broadcast(region.results[k], {}) : value(region.inits[k], region.computation));
    }
    for (const int32_t result : region.results) made.results.push_back(array(result));
    for (const RegionBody& body : region.bodies) made.called.push_back(body.computation);
    DeviceValue all = add(region.computation, std::move(made));
    for (const int32_t result : region.results) {
      values_[index(result)] = all;
      ++all.result;
    }
  }

  void visit(int32_t number) {
    const PredictedStep& one = step(number);
    const int32_t computation = one.result.computation;
    if (!reached_.contains(computation)) return;  // the condition of a loop, which holds nothing of size
    std::vector<DeviceValue> operands;
    for (const int32_t operand : one.operands) {
      const DeviceValue from = value(operand, computation);
      if (from != kNothing) operands.push_back(from);
    }
    DeviceValue made = operands.empty() ? kNothing : operands.front();
    if (one.result.opcode == Opcode::kBroadcast) {
      made = broadcast(number, std::move(operands));
    } else if (const auto scatter = scatter_into_constant(one)) {
      made = scatter_into(number, *scatter, operands);
    } else if (one.result.opcode == Opcode::kOptimizationBarrier && value(one.operands[0], computation) == kNothing) {
      made = kNothing;
    } else if (one.result.opcode != Opcode::kBitcast) {
      made = add(computation, {one.result.opcode, std::move(operands), {array(number)}, {}, one.result.origin});
    }
    for (int32_t k = 0; made != kNothing && k < static_cast<int32_t>(one.collectives.size()); ++k)
      made = exchange({number, k}, made);
    values_[index(number)] = made;
  }

  // Which operand of an addition is a scatter into a constant, used nowhere else: 0 or 1, or nothing.
  std::optional<size_t> scatter_into_constant(const PredictedStep& addition) {
    const int32_t computation = addition.result.computation;
    if (addition.result.opcode != Opcode::kAdd || addition.operands.size() != 2) return std::nullopt;
    if (value(addition.operands[0], computation) == kNothing || value(addition.operands[1], computation) == kNothing)
      return std::nullopt;
    for (size_t k = 0; k < addition.operands.size(); ++k) {
      const PredictedStep& from = step(addition.operands[k]);
      const DeviceValue made = values_[index(addition.operands[k])];
      if (from.result.opcode != Opcode::kScatter || from.uses != 1 || !from.collectives.empty() || made == kNothing ||
          from.result.computation != computation)
        continue;
      if (op(computation, op(computation, made).operands.front()).opcode == Opcode::kBroadcast) return k;
    }
    return std::nullopt;
  }

  // a + scatter(0, ..) is computed as scatter(a, ..).
  DeviceValue scatter_into(int32_t number, size_t scatter, const std::vector<DeviceValue>& addends) {
    const int32_t computation = step(number).result.computation;
    std::vector<DeviceValue> operands = op(computation, addends[scatter]).operands;
    operands.front() = addends[1 - scatter];
    return add(computation, {Opcode::kScatter, std::move(operands), {array(number)}, {}, origin(number)});
  }

  // The compiler makes equal ones once.
  DeviceValue broadcast(int32_t number, std::vector<DeviceValue> operands) {
    const int32_t computation = step(number).result.computation;
    DeviceValue& made = broadcasts_.try_emplace({computation, operands, array(number).bytes}, kNothing).first->second;
    if (made == kNothing)
      made = add(computation, {Opcode::kBroadcast, std::move(operands), {array(number)}, {}, origin(number)});
    return made;
  }

  // Bytes of what a step's collective exchanges, as an array.
  DeviceArray sized(int32_t number, int64_t bytes) const {
    const DeviceArray whole = array(number);
    return {bytes, whole.bytes > 0 ? bytes * whole.elements / whole.bytes : bytes};
  }

  DeviceValue rearranged(int32_t number, const DeviceValue& from, int64_t bytes) {
    return add(step(number).result.computation,
               {Opcode::kTranspose, {from}, {sized(number, bytes)}, {}, step(number).result.origin});
  }

  DeviceValue exchange(const PredictedMember& member, DeviceValue from) {
    const PredictedCollective& one = predicted_.collective(member);
    const int32_t group = group_of_.at({member.step, member.collective});
    if (one.kind == Opcode::kAllToAll) return exchange_pieces(member, from, group);
    const bool scatters = one.kind == Opcode::kReduceScatter;
    if (scatters && one.rearranged) from = rearranged(member.step, from, one.bytes);
    const int64_t bytes = scatters ? one.bytes / predicted_.size(one.axes) : one.bytes;
    DeviceValue made = join(member, from, group);
    DeviceOp& all = op(step(member.step).result.computation, made);
    made.result = static_cast<int32_t>(all.results.size());
    all.results.push_back(sized(member.step, bytes));
    if (one.kind == Opcode::kAllGather && one.rearranged) made = rearranged(member.step, made, bytes);
    return made;
  }

  // The operation of a group, with one operand more.
  DeviceValue join(const PredictedMember& member, const DeviceValue& from, int32_t group) {
    const int32_t computation = step(member.step).result.computation;
    DeviceValue& made = made_[index(group)];
    if (made == kNothing)
      made = add(computation, {predicted_.collective(member).kind, {}, {}, {}, origin(member.step)});
    op(computation, made).operands.push_back(from);
    return made;
  }

  // The pieces for each device lie side by side in one array, are exchanged one by one and put together again.
  DeviceValue exchange_pieces(const PredictedMember& member, DeviceValue from, int32_t group) {
    const int32_t computation = step(member.step).result.computation;
    const PredictedCollective& one = predicted_.collective(member);
    from = rearranged(member.step, from, one.bytes);
    const bool first = made_[index(group)] == kNothing;
    if (first) {
      const int32_t from_node = origin(member.step);
      const DeviceArray none{};
      made_[index(group)] = add(computation, {Opcode::kConcatenate, {}, {none}, {}, from_node});
      const DeviceValue sent = add(computation, {Opcode::kAllToAll, {made_[index(group)]}, {none}, {}, from_node});
      add(computation, {Opcode::kConcatenate, {sent}, {none}, {}, from_node});
    }
    const DeviceValue beside = made_[index(group)];
    op(computation, beside).operands.push_back(from);
    for (int32_t k = 0; k < 3; ++k) {
      DeviceArray& all = op(computation, {beside.op + k, 0}).results[0];
      all.bytes += one.bytes;
      all.elements += sized(member.step, one.bytes).elements;
    }
    return rearranged(member.step, {beside.op + 2, 0}, one.bytes);
  }

  // A group stands where its first member stood, and may wait for what comes later.
  static void sort(DeviceComputation& computation) {
    const auto count = static_cast<int32_t>(computation.ops.size());
    std::vector<std::vector<int32_t>> users(computation.ops.size());
    std::vector<int> waits(computation.ops.size());
    for (int32_t id = 0; id < count; ++id) {
      for (const DeviceValue& operand : computation.ops[index(id)].operands) {
        users[index(operand.op)].push_back(id);
        ++waits[index(id)];
      }
    }
    std::vector<int32_t> order;
    std::vector<int32_t> ready;  // a heap, the smallest first
    for (int32_t id = count; id-- > 0;) {
      if (waits[index(id)] == 0) ready.push_back(id);
    }
    std::make_heap(ready.begin(), ready.end(), std::greater<>());
    while (!ready.empty()) {
      std::pop_heap(ready.begin(), ready.end(), std::greater<>());
      order.push_back(ready.back());
      ready.pop_back();
      for (const int32_t user : users[index(order.back())]) {
        if (--waits[index(user)] > 0) continue;
        ready.push_back(user);
        std::push_heap(ready.begin(), ready.end(), std::greater<>());
      }
    }
    renumber(computation, order);
  }

  static void renumber(DeviceComputation& computation, const std::vector<int32_t>& order) {
    std::vector<int32_t> place(computation.ops.size(), -1);
    for (size_t k = 0; k < order.size(); ++k) place[index(order[k])] = static_cast<int32_t>(k);
    std::vector<DeviceOp> ops;
    for (const int32_t id : order) {
      ops.push_back(std::move(computation.ops[index(id)]));
      for (DeviceValue& operand : ops.back().operands) operand.op = place[index(operand.op)];
    }
    computation.ops = std::move(ops);
    for (int32_t& parameter : computation.parameters) parameter = place[index(parameter)];
    for (DeviceValue& root : computation.roots) root.op = place[index(root.op)];
  }

  const PredictedProgram& predicted_;
  const ProgramFrame& frame_;
  const std::vector<PredictedStep>& steps_;
  std::vector<DeviceValue> values_;                                // by step
  std::map<std::pair<int32_t, int32_t>, DeviceValue> parameters_;  // by computation and step
  std::map<std::pair<int32_t, int32_t>, int32_t> group_of_;        // by step and collective
  std::map<int32_t, const Region*> region_of_;                     // by result
  std::map<std::tuple<int32_t, std::vector<DeviceValue>, int64_t>, DeviceValue> broadcasts_;
  std::vector<DeviceValue> made_;  // by group
  std::set<int32_t> reached_;      // computations that are a part of the program
  DeviceProgram program_;
};

}  // namespace

DeviceProgram build_device_program(const PredictedProgram& program, const ProgramFrame& frame) {
  return Builder(program, frame).run();
}

}  // namespace alpa::planner
