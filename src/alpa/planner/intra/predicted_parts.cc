#include "alpa/planner/intra/predicted_parts.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "alpa/planner/intra/accumulated_sums.h"

namespace alpa::planner {
namespace {

using hlo::Opcode;

size_t at(int32_t number) { return static_cast<size_t>(number); }

// A part that is being written: steps of the whole program by their numbers in the part.
class PartWriter {
 public:
  PartWriter(const PredictedProgram& whole, const ProgramFrame& frame)
      : whole_(whole), frame_(frame), part_{PredictedProgram(whole.mesh()), {}, {}}, map_(whole.steps().size(), -1) {
    part_.frame.num_computations = frame.num_computations;
    part_.frame.entry = frame.entry;
  }

  bool has(int32_t number) const { return map_[at(number)] >= 0; }
  int32_t operator[](int32_t number) const { return map_[at(number)]; }
  int32_t& number_of(int32_t number) { return map_[at(number)]; }
  PredictedPart& part() { return part_; }
  PredictedProgram& program() { return part_.program; }

  int32_t add_parameter(StepResult result) {
    result.opcode = Opcode::kParameter;
    result.computation = frame_.entry;
    part_.frame.inputs.push_back(part_.program.add_step(StepRole::kOther, {}, {}, result));
    return part_.frame.inputs.back();
  }

  void add_step_input(size_t input) {
    const int32_t number = frame_.inputs[input];
    map_[at(number)] = add_parameter(whole_.steps()[at(number)].result);
    part_.step_inputs.push_back(input);
  }

  void copy(int32_t number, const PredictedStep& step) {
    std::vector<int32_t> operands;
    for (const int32_t operand : step.operands) operands.push_back(map_[at(operand)]);
    map_[at(number)] = part_.program.add_copy(step, std::move(operands));
  }

  void add_output(int32_t number) { part_.frame.outputs.push_back(number); }

  // Loops and branches that the part has.
  void add_regions() {
    for (const Region& region : frame_.regions) {
      if (region.results.empty() || !has(region.results.front())) continue;
      Region copy{region.opcode, region.computation, mapped(region.inits), mapped(region.results), {}};
      for (const RegionBody& body : region.bodies) {
        copy.bodies.push_back({body.computation, mapped(body.parameters), mapped(body.roots)});
        if (region.opcode != Opcode::kWhile) continue;
        for (const int32_t root : copy.bodies.back().roots) part_.program.use(root);  // by the next turn
      }
      part_.frame.regions.push_back(std::move(copy));
    }
  }

 private:
  std::vector<int32_t> mapped(const std::vector<int32_t>& numbers) const {
    std::vector<int32_t> result;
    for (const int32_t number : numbers) result.push_back(map_[at(number)]);
    return result;
  }

  const PredictedProgram& whole_;
  const ProgramFrame& frame_;
  PredictedPart part_;
  std::vector<int32_t> map_;  // by step of the whole program
};

class Splitter {
 public:
  Splitter(const PredictedStepOfMicroBatches& step, const std::vector<char>& deferred)
      : whole_(step.program),
        steps_(step.program.steps()),
        frame_(step.frame),
        held_(step.held),
        layout_(step.micro_batches),
        deferral_(step.program.deferral(deferred)),
        in_accumulate_(steps_.size(), false),
        in_apply_(steps_.size(), false),
        of_sums_(steps_.size(), false) {
    for (const Region& region : frame_.regions) {
      for (const int32_t result : region.results) region_of_[result] = &region;
    }
    for (size_t k = 0; k < deferral_.leaves.size(); ++k) {
      if (!deferral_.leaves[k].empty()) waiting_[whole_.addition(k)] = k;
    }
    for (size_t output = layout_.num_outputs; output < frame_.outputs.size(); ++output) {
      crosses_.insert(frame_.outputs[output]);
      crosses_.insert(held_[output]);
    }
  }

  PredictedParts run() {
    find_needed();
    PartWriter accumulate(whole_, frame_);
    write_accumulate(accumulate);
    PartWriter apply(whole_, frame_);
    write_apply(apply);
    return {std::move(accumulate.part()), std::move(apply.part())};
  }

 private:
  bool is_accumulator(size_t output) const { return output < layout_.num_outputs + layout_.num_accumulators; }
  bool waits(int32_t number) const { return deferral_.waits[at(number)] != 0; }
  bool is_leaf(int32_t number) const { return deferral_.replayed[at(number)] == 0; }

  // The leaves of an accumulator's new value; none if it does not wait.
  const std::vector<Deferral::Leaf>& leaves_of(size_t output) const {
    static const std::vector<Deferral::Leaf> kNone;
    const auto found = waiting_.find(held_[output]);
    return found == waiting_.end() ? kNone : deferral_.leaves[found->second];
  }

  void find_needed() {
    for (size_t output = 0; output < frame_.outputs.size(); ++output) {
      if (output < layout_.num_outputs)
        need(in_apply_, frame_.outputs[output]);
      else if (leaves_of(output).empty())
        need(in_accumulate_, frame_.outputs[output]);
      for (const Deferral::Leaf& leaf : leaves_of(output)) need(in_accumulate_, leaf.step);
    }
    while (!open_.empty()) {
      const auto [part, number] = open_.back();
      open_.pop_back();
      if (part == &of_sums_)
        need_for_sum(number);
      else if (const auto sum = waiting_.find(number); part == &in_apply_ && sum != waiting_.end())
        need(of_sums_, steps_[at(number)].operands[kAddend]);
      else if (part == &in_accumulate_ || !crosses_.contains(number))
        need_operands(*part, number);
    }
  }

  void need(std::vector<char>& part, int32_t number) {
    if (!std::exchange(part[at(number)], true)) open_.emplace_back(&part, number);
  }

  // A loop or branch is needed as a whole.
  void need_operands(std::vector<char>& part, int32_t number) {
    const auto need_all = [&](const std::vector<int32_t>& numbers) {
      for (const int32_t one : numbers) need(part, one);
    };
    need_all(steps_[at(number)].operands);
    const auto region = region_of_.find(number);
    if (region == region_of_.end()) return;
    need_all(region->second->inits);
    need_all(region->second->results);
    for (const RegionBody& body : region->second->bodies) {
      need_all(body.parameters);
      need_all(body.roots);
    }
  }

  void need_for_sum(int32_t number) {
    if (is_leaf(number)) return;
    const PredictedStep& step = steps_[at(number)];
    for (size_t k = 0; k < step.operands.size(); ++k)
      need(is_linear_in(step, k) ? of_sums_ : in_apply_, step.operands[k]);
  }

  static bool is_linear_in(const PredictedStep& step, size_t operand) {
    return std::find(step.linear.begin(), step.linear.end(), operand) != step.linear.end();
  }

  // Of a step with its collectives, `times` as often, divided by `parts`: whole numbers stay whole.
  PredictedStep repeated(int32_t number, double times, double parts) const {
    PredictedStep step = steps_[at(number)];
    for (PredictedCollective& one : step.collectives) one.executions = one.executions * times / parts;
    return step;
  }
  bool in_both(int32_t number) const {
    return in_accumulate_[at(number)] && in_apply_[at(number)] && !crosses_.contains(number);
  }

  void write_accumulate(PartWriter& part) {
    for (size_t input = 0; input < layout_.num_inputs; ++input) {
      if (in_accumulate_[at(frame_.inputs[input])]) part.add_step_input(input);
    }
    const int32_t flag = frame_.inputs[layout_.num_inputs];
    part.number_of(flag) = part.add_parameter(steps_[at(flag)].result);
    std::map<int32_t, int32_t> partial;  // parameters by leaf
    for (size_t k = 0; k < layout_.num_accumulators; ++k) {
      const std::vector<Deferral::Leaf>& leaves = leaves_of(layout_.num_outputs + k);
      const int32_t accumulator = frame_.inputs[layout_.num_inputs + 1 + k];
      if (leaves.empty()) part.number_of(accumulator) = part.add_parameter(steps_[at(accumulator)].result);
      for (const Deferral::Leaf& leaf : leaves) {
        if (!partial.contains(leaf.step)) partial[leaf.step] = part.add_parameter(sum_of(leaf));
      }
    }
    std::map<int32_t, int32_t> sums;  // by leaf
    for (int32_t number = 0; number < static_cast<int32_t>(steps_.size()); ++number) {
      if (!in_accumulate_[at(number)] || part.has(number)) continue;
      PredictedStep step =
          repeated(number, in_both(number) ? layout_.count : 1, in_both(number) ? layout_.count + 1 : 1);
      if (waits(number)) step.collectives.clear();
      if (waits(number) && step.role == StepRole::kCollective)
        part.number_of(number) = part[step.operands.front()];
      else
        part.copy(number, step);
      const auto parameter = partial.find(number);
      if (parameter != partial.end())
        sums[number] = add_to(part.program(), parameter->second, part[number], part[flag]);
    }
    add_outputs_of_accumulate(part, sums);
    part.add_regions();
  }

  // The new values of the accumulators take their memory.
  void add_outputs_of_accumulate(PartWriter& part, std::map<int32_t, int32_t>& sums) {
    const auto first = static_cast<int32_t>(part.part().step_inputs.size()) + 1;
    int32_t count = 0;
    const auto add = [&](int32_t number, int32_t held, bool accumulator) {
      part.add_output(number);
      part.program().use(held);
      if (!accumulator) return;
      part.part().frame.aliases.push_back({count, first + count});
      ++count;
    };
    for (size_t output = layout_.num_outputs; output < frame_.outputs.size(); ++output) {
      const std::vector<Deferral::Leaf>& leaves = leaves_of(output);
      if (leaves.empty()) add(part[frame_.outputs[output]], part[held_[output]], is_accumulator(output));
      for (const Deferral::Leaf& leaf : leaves) {
        const auto sum = sums.extract(leaf.step);
        if (!sum.empty()) add(sum.mapped(), sum.mapped(), true);
      }
    }
  }

  // first ? leaf : accumulator + leaf
  int32_t add_to(PredictedProgram& program, int32_t accumulator, int32_t leaf, int32_t flag) const {
    StepResult result = program.steps()[at(accumulator)].result;
    result.opcode = Opcode::kSelect;
    const int32_t before = program.add_step(StepRole::kOther, {flag, accumulator}, {}, result);
    result.opcode = Opcode::kAdd;
    return program.add_step(StepRole::kOther, {before, leaf}, {}, result);
  }

  // An array that holds the sum of a leaf.
  StepResult sum_of(const Deferral::Leaf& leaf) const {
    StepResult result = steps_[at(leaf.step)].result;
    result.elements = result.bytes > 0 ? leaf.bytes * result.elements / result.bytes : leaf.bytes;
    result.bytes = leaf.bytes;
    return result;
  }

  void write_apply(PartWriter& part) {
    for (size_t input = 0; input < layout_.num_inputs; ++input) {
      const bool donated = std::any_of(frame_.aliases.begin(), frame_.aliases.end(), [&](const DeviceAlias& alias) {
        return at(alias.parameter) == input && at(alias.root) < layout_.num_outputs;
      });
      if (donated || in_apply_[at(frame_.inputs[input])]) part.add_step_input(input);
    }
    std::map<int32_t, int32_t> sums;  // sums over micro-batches by step
    for (size_t output = layout_.num_outputs; output < frame_.outputs.size(); ++output) {
      const std::vector<Deferral::Leaf>& leaves = leaves_of(output);
      for (const Deferral::Leaf& leaf : leaves) {
        if (!sums.contains(leaf.step)) sums[leaf.step] = part.add_parameter(sum_of(leaf));
      }
      if (!leaves.empty()) continue;
      const int32_t same = is_accumulator(output) ? frame_.inputs[layout_.num_inputs + 1 + output - layout_.num_outputs]
                                                  : frame_.outputs[output];
      const int32_t made = part.add_parameter(steps_[at(same)].result);
      part.number_of(frame_.outputs[output]) = made;
      part.number_of(held_[output]) = made;
    }
    for (int32_t number = 0; number < static_cast<int32_t>(steps_.size()); ++number) {
      if (of_sums_[at(number)]) sum_in_apply(part, number, sums);
      if (in_apply_[at(number)] && !part.has(number)) copy_to_apply(part, number, sums);
    }
    for (size_t output = 0; output < layout_.num_outputs; ++output) {
      part.add_output(part[frame_.outputs[output]]);
      part.program().use(part[held_[output]]);
    }
    for (const DeviceAlias& alias : frame_.aliases) {
      if (at(alias.root) >= layout_.num_outputs) continue;
      const std::vector<size_t>& inputs = part.part().step_inputs;
      const auto input = std::find(inputs.begin(), inputs.end(), at(alias.parameter));
      part.part().frame.aliases.push_back({alias.root, static_cast<int32_t>(input - inputs.begin())});
    }
    part.add_regions();
  }

  void sum_in_apply(PartWriter& part, int32_t number, std::map<int32_t, int32_t>& sums) {
    PredictedStep step = repeated(number, 1, layout_.count);
    if (is_leaf(number)) {
      if (!waits(number)) return;
      step.role = StepRole::kCollective;
      step.linear = {0};
      step.result.opcode = Opcode::kBitcast;
      sums[number] = part.program().add_copy(step, {sums.at(number)});
      return;
    }
    std::vector<int32_t> operands;
    for (size_t k = 0; k < step.operands.size(); ++k)
      operands.push_back(is_linear_in(step, k) ? sums.at(step.operands[k]) : part[step.operands[k]]);
    sums[number] = part.program().add_copy(step, std::move(operands));
  }

  void copy_to_apply(PartWriter& part, int32_t number, const std::map<int32_t, int32_t>& sums) {
    if (waiting_.contains(number)) {
      part.number_of(number) = sums.at(steps_[at(number)].operands[kAddend]);
      return;
    }
    part.copy(number, repeated(number, 1, in_both(number) ? layout_.count + 1 : 1));
  }

  const PredictedProgram& whole_;
  const std::vector<PredictedStep>& steps_;
  const ProgramFrame& frame_;
  const std::vector<int32_t>& held_;
  const MicroBatches& layout_;
  const Deferral deferral_;
  std::map<int32_t, const Region*> region_of_;  // by result
  std::map<int32_t, size_t> waiting_;           // accumulators whose sums wait, by the step that adds to them
  std::set<int32_t> crosses_;                   // from micro-batches to the step
  std::vector<char> in_accumulate_, in_apply_;  // by step
  std::vector<char> of_sums_;                   // by step: whether `apply` has the sum of it over micro-batches
  std::vector<std::pair<std::vector<char>*, int32_t>> open_;  // needed, and not yet what they need
};

}  // namespace

PredictedParts predicted_parts(const PredictedStepOfMicroBatches& step, const std::vector<char>& deferred) {
  return Splitter(step, deferred).run();
}

}  // namespace alpa::planner
