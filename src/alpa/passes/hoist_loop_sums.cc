#include "alpa/passes/hoist_loop_sums.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/collectives.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/replica_groups.h"
#include "alpa/hlo/simplify.h"
#include "alpa/hlo/zero_value.h"
#include "alpa/passes/append.h"
#include "alpa/passes/loop_sums.h"
#include "alpa/passes/stack_shape.h"
#include "alpa/passes/stacked_operation.h"
#include "alpa/passes/tuple_root.h"
#include "alpa/passes/write_accumulation.h"

namespace alpa::passes {
namespace {

using hlo::Computation;
using hlo::ComputationId;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using hlo::Rewrite;
using tensor::DType;
using tensor::Shape;

size_t at(InstructionId id) { return static_cast<size_t>(id); }

/// Sums of a loop that are hoisted together: all added up, or all written into the same rows.
struct Group {
  int64_t rows = 0;
  InstructionId row = -1;
  std::vector<LoopSum> sums;
  std::vector<InstructionId> leaves;  ///< Of the body: what is summed instead.
  std::vector<InstructionId> parts;   ///< Of the caller, by leaf: its sum, in the leaf's element type.
};

/// Which of a loop's sums are hoisted, and how their values flow.
class Choice {
 public:
  using Allowed = std::function<bool(const LoopSum&)>;

  Choice(const hlo::Module& module, const Rewrite& caller, InstructionId loop, int64_t num_devices,
         const Allowed& allowed)
      : body_(module.computation(caller[loop].called.at(0))) {
    std::map<std::pair<int64_t, InstructionId>, Group> candidates;
    for (const LoopSum& sum : loop_sums(module, caller, loop)) {
      if (!allowed(sum)) continue;
      Group& group = candidates[{sum.rows, sum.row}];
      group.rows = sum.rows;
      group.row = sum.row;
      group.sums.push_back(sum);
    }
    for (auto& [key, group] : candidates) {
      const LinearFlow flow = settle(module, num_devices, group);
      if (group.sums.empty()) continue;
      for (const LoopSum& sum : group.sums) {
        for (const InstructionId leaf : flow.ways(addend(sum)).leaves) {
          if (std::find(group.leaves.begin(), group.leaves.end(), leaf) == group.leaves.end())
            group.leaves.push_back(leaf);
        }
      }
      groups.push_back(std::move(group));
      flows.push_back(flow);
    }
  }

  InstructionId addend(const LoopSum& sum) const { return body_[sum.update].operands[sum.addend]; }
  const Rewrite& body() const { return body_; }

  std::vector<Group> groups;
  std::vector<LinearFlow> flows;  ///< By group.

 private:
  // Leaves in the group what can be hoisted. A value that goes into a sum that stays, stays too.
  LinearFlow settle(const hlo::Module& module, int64_t num_devices, Group& group) const {
    for (;;) {
      std::map<InstructionId, size_t> updates;
      for (const LoopSum& sum : group.sums) updates.emplace(sum.update, sum.addend);
      LinearFlow flow(module, body_, num_devices, std::move(updates));
      const size_t before = group.sums.size();
      std::erase_if(group.sums, [&](const LoopSum& sum) { return !flow.is_above(addend(sum)) || narrows(flow, sum); });
      if (group.sums.size() == before) return flow;
    }
  }

  // Rows are not added up: they fit as they did.
  bool narrows(const LinearFlow& flow, const LoopSum& sum) const {
    if (sum.rows > 0) return false;
    const DType dtype = body_[sum.update].shape.dtype;
    const LinearFlow::Ways ways = flow.ways(addend(sum));
    const auto differs = [&](InstructionId id) { return body_[id].shape.dtype != dtype; };
    return std::any_of(ways.above.begin(), ways.above.end(), differs) ||
           std::any_of(ways.leaves.begin(), ways.leaves.end(), differs);
  }

  Rewrite body_;
};

Shape carried_shape(const Group& group, const Shape& leaf) {
  return group.rows > 0 ? stack_shape(leaf, group.rows) : Shape(sum_type(leaf.dtype), leaf.dims);
}

/// Writes a loop anew: its body and condition, and what comes before and after it in its caller.
class LoopWriter {
 public:
  LoopWriter(hlo::Module& module, hlo::FreshNames& names, Choice& choice, ComputationId caller, InstructionId loop)
      : module_(module), names_(names), add_(names, "hoisted"), choice_(choice), caller_(caller), loop_(loop) {}

  void run() {
    const Computation& caller = module_.computation(caller_);
    const Instruction& loop = caller[loop_];
    const ComputationId body = loop.called[0], condition = loop.called[1];
    renumber_elements(loop.shape);
    module_.computations[at(body)] = new_body(module_.computation(body));
    module_.computations[at(condition)] = with_elements(module_.computation(condition), parameter_of(condition));
    module_.computations[at(condition)][parameter_of(condition)].shape = shape_;
    module_.computations[at(caller_)] = new_caller(caller);
  }

 private:
  InstructionId parameter_of(ComputationId id) const { return hlo::parameters(module_.computation(id)).at(0); }

  void renumber_elements(const Shape& old) {
    const size_t count = old.elements.size();
    renumbered_.assign(count, 0);
    for (const Group& group : choice_.groups) {
      for (const LoopSum& sum : group.sums) renumbered_[static_cast<size_t>(sum.element)] = -1;
    }
    std::vector<Shape> elements;
    for (size_t k = 0; k < count; ++k) {
      if (renumbered_[k] < 0) continue;
      renumbered_[k] = static_cast<int64_t>(elements.size());
      elements.push_back(old.elements[k]);
    }
    num_kept_ = static_cast<int64_t>(elements.size());
    for (const Group& group : choice_.groups) {
      for (const InstructionId leaf : group.leaves)
        elements.push_back(carried_shape(group, choice_.body()[leaf].shape));
    }
    shape_ = Shape::tuple(elements);
  }

  // Elements of `tuple` by their new numbers. What picks one that is gone must be gone in the end.
  Computation with_elements(Computation computation, InstructionId tuple) const {
    for (Instruction& one : computation.instructions) {
      if (one.opcode != Opcode::kGetTupleElement || one.operands[0] != tuple) continue;
      const int64_t number = renumbered_[static_cast<size_t>(hlo::tuple_index(one))];
      if (number >= 0) hlo::set_tuple_index(one, number);
    }
    hlo::set_sharding(computation[tuple], std::nullopt);
    return computation;
  }

  std::vector<InstructionId> kept(const std::vector<InstructionId>& elements) const {
    std::vector<InstructionId> result;
    for (size_t k = 0; k < elements.size(); ++k) {
      if (renumbered_[k] >= 0) result.push_back(elements[k]);
    }
    return result;
  }

  Computation new_body(const Computation& old) {
    const InstructionId parameter = hlo::parameters(old).at(0);
    Computation body = with_elements(old, parameter);
    body[parameter].shape = shape_;
    std::vector<InstructionId> elements = kept(old[old.root].operands);
    for (const Group& group : choice_.groups) {
      for (const InstructionId leaf : group.leaves) {
        const auto number = static_cast<int64_t>(elements.size());
        const InstructionId before =
            append(body, hlo::make_get_tuple_element(names_.name("partial_sum"), shape_.elements[elements.size()],
                                                     parameter, number));
        elements.push_back(group.rows > 0 ? write_row(body, before, leaf, group.row) : add(body, before, leaf));
      }
    }
    body.root = append(body, hlo::make_instruction(Opcode::kTuple, names_.name(old[old.root].name), shape_, elements));
    return Rewrite(std::move(body)).finish();
  }

  InstructionId add(Computation& body, InstructionId before, InstructionId leaf) {
    const Shape shape = body[before].shape;
    return add_.op(body, Opcode::kAdd, shape, {before, converted(body, leaf, shape)});
  }

  InstructionId converted(Computation& to, InstructionId id, const Shape& shape) {
    return to[id].shape == shape ? id : add_.op(to, Opcode::kConvert, shape, {id});
  }

  InstructionId write_row(Computation& body, InstructionId before, InstructionId leaf, InstructionId row) {
    const Shape shape = body[before].shape;
    const InstructionId one = add_.op(body, Opcode::kReshape, stack_shape(body[leaf].shape, 1), {leaf});
    std::vector<InstructionId> operands{before, one, row};
    if (shape.rank() > 1)
      operands.resize(static_cast<size_t>(shape.rank()) + 2, add_.scalar(body, body[row].shape.dtype, 0));
    return add_.op(body, Opcode::kDynamicUpdateSlice, shape, std::move(operands));
  }

  Computation new_caller(const Computation& old) {
    Computation caller = with_elements(old, loop_);
    std::vector<InstructionId> inits = kept(old[old[loop_].operands[0]].operands);
    for (size_t k = inits.size(); k < shape_.elements.size(); ++k) {
      const Shape& shape = shape_.elements[k];
      inits.push_back(add_.broadcast(caller, add_.scalar(caller, shape.dtype, 0), shape));
    }
    const std::string& name = old[old[loop_].operands[0]].name;
    caller[loop_].shape = shape_;
    caller[loop_].operands = {append(caller, hlo::make_instruction(Opcode::kTuple, names_.name(name), shape_, inits))};
    int64_t number = num_kept_;
    for (Group& group : choice_.groups) {
      for (const InstructionId leaf : group.leaves) {
        const Shape& shape = shape_.elements[static_cast<size_t>(number)];
        const InstructionId part =
            append(caller, hlo::make_get_tuple_element(names_.name("partial_sum"), shape, loop_, number));
        group.parts.push_back(converted(caller, part, Shape(choice_.body()[leaf].shape.dtype, shape.dims)));
        ++number;
      }
    }
    Rewrite rewrite(std::move(caller));
    for (size_t k = 0; k < choice_.groups.size(); ++k) replace_sums(rewrite, old, k);
    return std::move(rewrite).finish();
  }

  void replace_sums(Rewrite& rewrite, const Computation& old, size_t number) {
    const Group& group = choice_.groups[number];
    replayed_.clear();
    for (size_t k = 0; k < group.leaves.size(); ++k) replayed_[group.leaves[k]] = group.parts[k];
    for (const LoopSum& sum : group.sums) {
      InstructionId value = replay(rewrite, choice_.addend(sum), number);
      const Shape& shape = choice_.body()[sum.update].shape;
      if (group.rows > 0) {
        value = rewrite.add(hlo::make_instruction(Opcode::kReshape, names_.name("rows"), shape, {value}));
      } else if (!hlo::is_zero(old, sum.init)) {
        value = rewrite.add(hlo::make_instruction(Opcode::kAdd, names_.name("add.hoisted"), shape, {sum.init, value}));
      }
      for (InstructionId id = 0; id < old.size(); ++id) {
        const Instruction& one = old[id];
        if (one.opcode == Opcode::kGetTupleElement && one.operands[0] == loop_ && hlo::tuple_index(one) == sum.element)
          rewrite.replace_uses(id, value);
      }
    }
  }

  // What is above the leaves, of their sums.
  InstructionId replay(Rewrite& to, InstructionId id, size_t group) {
    if (const auto known = replayed_.find(id); known != replayed_.end()) return known->second;
    const Instruction& one = choice_.body()[id];
    const std::vector<size_t> linear = choice_.flows[group].linear_operands(id);
    std::vector<InstructionId> operands;
    for (size_t k = 0; k < one.operands.size(); ++k) {
      const bool summed = std::find(linear.begin(), linear.end(), k) != linear.end();
      operands.push_back(summed ? replay(to, one.operands[k], group) : fixed(to, one.operands[k]));
    }
    const int64_t rows = choice_.groups[group].rows;
    const InstructionId made = rows > 0 ? add_stacked(to, names_, one, std::move(operands), linear, rows)
                                        : add_copy(to, one, std::move(operands));
    replayed_[id] = made;
    return made;
  }

  InstructionId fixed(Rewrite& to, InstructionId id) {
    if (const auto known = fixed_.find(id); known != fixed_.end()) return known->second;
    const Instruction& one = choice_.body()[id];
    std::vector<InstructionId> operands;
    for (const InstructionId operand : one.operands) operands.push_back(fixed(to, operand));
    const InstructionId made = add_copy(to, one, std::move(operands));
    fixed_[id] = made;
    return made;
  }

  InstructionId add_copy(Rewrite& to, const Instruction& one, std::vector<InstructionId> operands) {
    Instruction copy = hlo::clone(one, names_.name(one.name), std::move(operands));
    if (hlo::is_collective(one.opcode) && hlo::channel_id(one) != 0) hlo::set_channel_id(copy, names_.channel());
    return to.add(std::move(copy));
  }

  hlo::Module& module_;
  hlo::FreshNames& names_;
  const Appender add_;
  Choice& choice_;
  const ComputationId caller_;
  const InstructionId loop_;
  std::vector<int64_t> renumbered_;  ///< By old element; -1: gone.
  int64_t num_kept_ = 0;
  Shape shape_;                                      ///< Of the new loop.
  std::map<InstructionId, InstructionId> replayed_;  ///< Of the group that is written, by value of the body.
  std::map<InstructionId, InstructionId> fixed_;
};

/// Whether stacked rows of a loop of a computation may be hoisted.
using AllowedRows = std::function<bool(const hlo::Module&, ComputationId, InstructionId loop, int64_t element)>;

// True if it found a loop to hoist sums of.
bool hoist_once(hlo::Module& module, hlo::FreshNames& names, ComputationId caller, int64_t num_devices,
                const AllowedRows& allowed) {
  const Rewrite rewrite(module.computation(caller));
  for (InstructionId id = 0; id < rewrite.size(); ++id) {
    if (rewrite[id].opcode != Opcode::kWhile) continue;
    Choice choice(module, rewrite, id, num_devices,
                  [&](const LoopSum& sum) { return sum.rows == 0 || allowed(module, caller, id, sum.element); });
    if (choice.groups.empty()) continue;
    LoopWriter(module, names, choice, caller, id).run();
    return true;
  }
  return false;
}

hlo::Module hoist(const hlo::Module& old, int64_t num_devices, const AllowedRows& allowed) {
  hlo::Module module = tuple_root(old);  // a loop may be all that the entry returns
  hlo::FreshNames names(module);
  const std::vector<double> times = hlo::executions(module);
  // Callees come first: what leaves an inner loop may leave the outer one.
  for (ComputationId id = 0; id < static_cast<ComputationId>(times.size()); ++id) {
    while (times[static_cast<size_t>(id)] > 0 && hoist_once(module, names, id, num_devices, allowed)) {
    }
  }
  return hlo::drop_uncalled(std::move(module));
}

}  // namespace

hlo::Module hoist_loop_sums(const hlo::Module& module, int64_t num_devices) {
  return hoist(module, num_devices, [](const hlo::Module&, ComputationId, InstructionId, int64_t) { return false; });
}

hlo::Module hoist_loop_sums(const hlo::Module& module, const DeferRequest& request) {
  return hoist(module, request.num_devices,
               [&](const hlo::Module& now, ComputationId caller, InstructionId loop, int64_t element) {
                 if (caller != now.entry) return false;
                 const DeferrableSums sums(now, request);
                 const Computation& entry = now.entry_computation();
                 for (InstructionId id = 0; id < entry.size(); ++id) {
                   const Instruction& one = entry[id];
                   const bool reads = one.opcode == Opcode::kGetTupleElement && one.operands[0] == loop &&
                                      hlo::tuple_index(one) == element;
                   if (reads && !sums.flow().is_absorbed(id)) return false;
                 }
                 return true;
               });
}

}  // namespace alpa::passes
