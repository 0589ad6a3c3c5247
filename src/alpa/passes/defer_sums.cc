#include "alpa/passes/defer_sums.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/replica_groups.h"
#include "alpa/passes/append.h"
#include "alpa/passes/extract_part.h"
#include "alpa/passes/tuple_root.h"
#include "alpa/passes/write_accumulation.h"

namespace alpa::passes {
namespace {

using hlo::Computation;
using hlo::ComputationId;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using tensor::DType;
using tensor::Shape;

size_t at(InstructionId id) { return static_cast<size_t>(id); }

Shape sum_shape(const Shape& shape) { return {sum_type(shape.dtype), shape.dims}; }

constexpr const char* kPass = "deferred";

/// The accumulators of the new programs, in order: old ones that stay, and leaves.
struct Accumulators {
  struct One {
    size_t kept = 0;          ///< Number of the old accumulator, if it stays.
    InstructionId leaf = -1;  ///< Of the accumulate program; -1: the old one stays.
  };
  std::vector<One> all;
  std::map<InstructionId, size_t> of_leaf;

  explicit Accumulators(const std::vector<DeferrableSum>& sums) {
    for (size_t k = 0; k < sums.size(); ++k) {
      if (sums[k].addend < 0) all.push_back({k, -1});
      for (const InstructionId leaf : sums[k].leaves) {
        if (of_leaf.emplace(leaf, all.size()).second) all.push_back({k, leaf});
      }
    }
  }
};

// --- accumulate ---------------------------------------------------------------------------------------------------

/// The sum of a leaf: parameter and new value.
struct PartialSum {
  InstructionId parameter = 0;
  InstructionId updated = 0;
};

PartialSum append_partial_sum(Computation& entry, hlo::FreshNames& names, InstructionId leaf, InstructionId flag) {
  const Shape shape = sum_shape(entry[leaf].shape);
  PartialSum sum;
  sum.parameter = append(entry, hlo::make_parameter(names.name("partial_sum"), shape, 0));
  const Appender add(names, kPass);
  const InstructionId first = add.broadcast(entry, flag, Shape(DType::kPred, shape.dims));
  const InstructionId zeros = add.broadcast(entry, add.scalar(entry, shape.dtype, 0), shape);
  const InstructionId before = add.op(entry, Opcode::kSelect, shape, {first, zeros, sum.parameter});
  if (entry[leaf].shape.dtype != shape.dtype) leaf = add.op(entry, Opcode::kConvert, shape, {leaf});
  sum.updated = add.op(entry, Opcode::kAdd, shape, {before, leaf});
  return sum;
}

hlo::Module accumulate_leaves(const hlo::Module& old, const Accumulators& accumulators, const DeferRequest& request) {
  hlo::Module module = old;
  hlo::FreshNames names(old);
  Computation& entry = module.entry_computation();
  const std::vector<InstructionId> old_parameters = hlo::parameters(entry);
  const std::vector<InstructionId> old_outputs = entry[entry.root].operands;
  const auto flag = static_cast<size_t>(request.accumulate_inputs);
  std::vector<PartParameter> parameters;
  for (size_t k = 0; k <= flag; ++k) parameters.push_back({old_parameters[k], old_parameters[k]});
  std::vector<InstructionId> outputs;
  std::vector<hlo::Alias> aliases;
  for (const Accumulators::One& one : accumulators.all) {
    PartialSum sum{old_parameters[flag + 1 + one.kept], old_outputs[one.kept]};
    if (one.leaf >= 0) sum = append_partial_sum(entry, names, one.leaf, old_parameters[flag]);
    aliases.push_back(
        {.output = static_cast<int64_t>(outputs.size()), .parameter = static_cast<int64_t>(parameters.size())});
    parameters.push_back({sum.parameter, sum.parameter});
    outputs.push_back(sum.updated);
  }
  outputs.insert(outputs.end(), old_outputs.begin() + static_cast<std::ptrdiff_t>(request.deferred.size()),
                 old_outputs.end());
  const Reach reach(entry);
  const std::vector<bool> needed = reach.ancestors(outputs, [](InstructionId) { return false; });
  hlo::Module result = extract_part(module, reach, parameters, needed, outputs);
  hlo::set_input_output_aliases(result, aliases);
  return result;
}

// --- apply --------------------------------------------------------------------------------------------------------

/// Writes the apply program: parameters that stand for accumulators and what is made of them first, the old program
/// after it.
class ApplyWriter {
 public:
  ApplyWriter(const hlo::Module& accumulate, const hlo::Module& apply, const DeferrableSums& sums,
              const Accumulators& accumulators, const DeferRequest& request)
      : from_(accumulate),
        old_(apply),
        sums_(sums),
        accumulators_(accumulators),
        request_(request),
        names_(apply),
        entry_(hlo::without_instructions(apply.entry_computation())) {
    for (const Computation& computation : apply.computations) computation_names_.insert(computation.name);
  }

  hlo::Module run() {
    const Computation& old = old_.entry_computation();
    const std::vector<InstructionId> old_parameters = hlo::parameters(old);
    const auto inputs = static_cast<size_t>(request_.apply_inputs);
    const size_t count = request_.deferred.size();
    for (const Accumulators::One& one : accumulators_.all) {
      parameters_.push_back(one.leaf < 0 ? append(entry_, old[old_parameters[inputs + one.kept]])
                                         : append(entry_, hlo::make_parameter(names_.name("partial_sum"),
                                                                              sum_shape(leaf_shape(one.leaf)), 0)));
    }
    std::vector<InstructionId> map(old.instructions.size(), -1);
    for (size_t k = 0, next = 0; k < count; ++k) {
      const DeferrableSum& sum = sums_.by_accumulator()[k];
      while (next < accumulators_.all.size() && accumulators_.all[next].kept < k) ++next;
      map[at(old_parameters[inputs + k])] = sum.addend < 0 ? parameters_[next] : communicated(sum);
    }
    for (InstructionId id = 0; id < old.size(); ++id) {
      if (map[at(id)] < 0) map[at(id)] = append(entry_, hlo::remapped(shifted(old[id]), map));
    }
    std::vector<PartParameter> parameters;
    const auto take = [&](InstructionId id) { parameters.push_back({id, id}); };
    for (size_t k = 0; k < inputs; ++k) take(map[at(old_parameters[k])]);
    for (const InstructionId id : parameters_) take(id);
    for (size_t k = inputs + count; k < old_parameters.size(); ++k) take(map[at(old_parameters[k])]);
    return assembled(parameters, map[at(old.root)]);
  }

 private:
  const Shape& leaf_shape(InstructionId leaf) const { return from_.entry_computation()[leaf].shape; }

  // A sum over micro-batches, of its leaves' sums.
  InstructionId communicated(const DeferrableSum& sum) {
    std::map<InstructionId, InstructionId>& replayed = replayed_[sum.narrow ? 1 : 0];
    // The mean of what is rounded to a narrow type fits into it; the sum may not.
    for (const InstructionId leaf : sum.leaves) {
      if (replayed.contains(leaf)) continue;
      InstructionId value = parameters_[accumulators_.of_leaf.at(leaf)];
      if (sum.narrow) value = scaled(value, Opcode::kDivide);
      if (entry_[value].shape != leaf_shape(leaf)) value = add_.op(entry_, Opcode::kConvert, leaf_shape(leaf), {value});
      replayed[leaf] = value;
    }
    const InstructionId value = replay(sum.addend, replayed);
    return sum.narrow ? scaled(value, Opcode::kMultiply) : value;
  }

  InstructionId scaled(InstructionId value, Opcode opcode) {
    const Shape shape = entry_[value].shape;
    const InstructionId number = add_.scalar(entry_, shape.dtype, static_cast<double>(request_.micro_batches));
    return add_.op(entry_, opcode, shape, {value, add_.broadcast(entry_, number, shape)});
  }

  // A value above the leaves, or a fixed one.
  InstructionId replay(InstructionId id, std::map<InstructionId, InstructionId>& replayed) {
    if (const auto known = replayed.find(id); known != replayed.end()) return known->second;
    const Instruction& one = from_.entry_computation()[id];
    std::vector<InstructionId> operands;
    for (const InstructionId operand : one.operands) operands.push_back(replay(operand, replayed));
    Instruction copy = hlo::clone(one, names_.name(one.name), std::move(operands));
    for (ComputationId& callee : copy.called) callee = imported(callee);
    if (hlo::is_collective(one.opcode) && hlo::channel_id(one) != 0) hlo::set_channel_id(copy, names_.channel());
    const InstructionId made = append(entry_, std::move(copy));
    replayed[id] = made;
    return made;
  }

  // A reducer of the other program.
  ComputationId imported(ComputationId id) {
    const auto [known, added] = imported_of_.try_emplace(id, static_cast<ComputationId>(imported_.size()));
    if (!added) return known->second;
    Computation reducer = from_.computation(id);
    reducer.proto_id = hlo::kUnnumbered;
    for (int next = 1; !computation_names_.insert(reducer.name).second; ++next)
      reducer.name = from_.computation(id).name + ".deferred." + std::to_string(next);
    for (Instruction& one : reducer.instructions) one = hlo::clone(one, names_.name(one.name), one.operands);
    imported_.push_back(std::move(reducer));
    return known->second;
  }

  // Called computations come after the imported ones, whose number is known when all sums are written.
  Instruction shifted(Instruction instruction) const {
    for (ComputationId& callee : instruction.called) callee += static_cast<ComputationId>(imported_.size());
    return instruction;
  }

  hlo::Module assembled(const std::vector<PartParameter>& parameters, InstructionId root) {
    hlo::Module module = old_;
    module.computations = imported_;
    for (const Computation& computation : old_.computations) {
      module.computations.push_back(computation);
      for (Instruction& one : module.computations.back().instructions) one = shifted(one);
    }
    module.entry += static_cast<ComputationId>(imported_.size());
    entry_.root = root;
    const std::vector<InstructionId> outputs = entry_[root].operands;
    module.entry_computation() = std::move(entry_);
    const Reach reach(module.entry_computation());
    const std::vector<bool> needed = reach.ancestors(outputs, [](InstructionId) { return false; });
    return extract_part(module, reach, parameters, needed, outputs);
  }

  const hlo::Module& from_;
  const hlo::Module& old_;
  const DeferrableSums& sums_;
  const Accumulators& accumulators_;
  const DeferRequest& request_;
  hlo::FreshNames names_;
  const Appender add_{names_, kPass};
  std::set<std::string> computation_names_;
  Computation entry_;
  std::vector<InstructionId> parameters_;                           ///< By new accumulator.
  std::array<std::map<InstructionId, InstructionId>, 2> replayed_;  ///< Of sums, and of means of narrow floats.
  std::vector<Computation> imported_;
  std::map<ComputationId, ComputationId> imported_of_;
};

}  // namespace

DeferredStep defer_sums(const hlo::Module& of_micro_batch, const hlo::Module& of_step, const DeferRequest& request) {
  const hlo::Module accumulate = tuple_root(of_micro_batch);
  const hlo::Module apply = tuple_root(of_step);
  const DeferrableSums sums(accumulate, request);
  const Accumulators accumulators(sums.by_accumulator());
  return {accumulate_leaves(accumulate, accumulators, request),
          ApplyWriter(accumulate, apply, sums, accumulators, request).run(),
          static_cast<int64_t>(accumulators.all.size())};
}

}  // namespace alpa::passes
