#include "alpa/passes/write_accumulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/markers.h"
#include "alpa/passes/gradient_cut.h"

namespace alpa::passes {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using tensor::DType;
using tensor::Shape;

using Leaf = GradientCut::Leaf;
using Crossing = GradientCut::Crossing;

// The step rewritten instruction by instruction.
class Writer {
 public:
  Writer(const hlo::Module& module, const AccumulationRequest& request)
      : module_(module), old_(module.entry_computation()), request_(request), cut_(old_, request) {
    map_.assign(old_.instructions.size(), -1);
    for (const Computation& computation : module.computations) {
      for (const Instruction& instruction : computation.instructions) names_.insert(instruction.name);
    }
    layout_.micro_batches = request.micro_batches;
  }

  WrittenAccumulation run() {
    write_parameters();
    stored_.assign(cut_.crossings().size(), -1);
    for (InstructionId id = 0; id < old_.size(); ++id) {
      if (!cut_.is_for_gradients(id)) continue;
      copy(id);
      accumulate_made_by(id);
    }
    average();
    for (InstructionId id = 0; id < old_.size(); ++id) {
      if (cut_.is_for_outputs(id)) copy(id);
    }
    return finish();
  }

 private:
  static size_t at(InstructionId id) { return static_cast<size_t>(id); }
  InstructionId seen(InstructionId id) const { return cut_.reach().seen_through(id); }

  std::string fresh(const std::string& base) {
    std::string name = base;
    for (int next = 1; !names_.insert(name).second; ++next) name = fmt::format("{}.{}", base, next);
    return name;
  }

  InstructionId append(Instruction instruction) {
    new_.push_back(std::move(instruction));
    return static_cast<InstructionId>(new_.size()) - 1;
  }

  InstructionId add(Opcode opcode, const std::string& name, const Shape& shape, std::vector<InstructionId> operands) {
    return append(hlo::make_instruction(opcode, fresh(name), shape, std::move(operands)));
  }

  void write_parameters() {
    for (const InstructionId id : hlo::parameters(old_)) map_[at(id)] = append(old_[id]);
    layout_.num_inputs = static_cast<int64_t>(new_.size());
    flag_ = append(hlo::make_parameter(fresh("first_micro_batch"), Shape(DType::kPred, {}), layout_.flag()));
    for (size_t k = 0; k < cut_.crossings().size(); ++k) {
      const Shape shape = cut_.shape_of(cut_.crossings()[k]);
      made_by_[cut_.crossings()[k].value].push_back(k);
      number_.push_back(is_averaged(shape.dtype) ? layout_.num_accumulators++ : layout_.num_latest++);
      if (!is_averaged(shape.dtype)) continue;
      accumulators_.push_back(
          append(hlo::make_parameter(fresh(fmt::format("accumulator.{}", number_[k])),
                                     Shape(sum_type(shape.dtype), shape.dims), layout_.accumulator(number_[k]))));
    }
  }

  void copy(InstructionId id) {
    InstructionId& made = map_[at(id)];
    if (made >= 0 || hlo::is_gradient_marker(old_[id])) return;
    const Instruction& instruction = old_[id];
    if (instruction.opcode == Opcode::kGetTupleElement) {
      const InstructionId tuple = seen(instruction.operands[0]);
      if (hlo::is_gradient_marker(old_[tuple])) {
        made = results_.at({tuple, static_cast<size_t>(hlo::tuple_index(instruction))});
        return;
      }
    }
    Instruction one = instruction;
    for (InstructionId& operand : one.operands) operand = made_for(seen(operand));
    one.control_predecessors.clear();  // they tell an order within what is now two programs
    made = append(std::move(one));
  }

  InstructionId made_for(InstructionId id) {
    if (!hlo::is_gradient_marker(old_[id])) return map_.at(at(id));
    if (map_[at(id)] >= 0) return map_[at(id)];
    std::vector<InstructionId> elements;
    for (size_t k = 0; k < old_[id].operands.size(); ++k) elements.push_back(results_.at({id, k}));
    if (!old_[id].shape.is_tuple()) return map_[at(id)] = elements.at(0);
    return map_[at(id)] = add(Opcode::kTuple, old_[id].name, old_[id].shape, std::move(elements));
  }

  InstructionId element(const Leaf& leaf) {
    InstructionId id = made_for(leaf.id);
    Shape shape = old_[leaf.id].shape;
    for (const int64_t k : leaf.path) {
      shape = Shape(shape.elements.at(static_cast<size_t>(k)));
      id = append(hlo::make_get_tuple_element(fresh(new_[at(id)].name + ".element"), shape, id, k));
    }
    return id;
  }

  InstructionId broadcast(const std::string& name, InstructionId scalar, const Shape& shape) {
    if (shape.rank() == 0) return scalar;
    return append(hlo::make_broadcast(fresh(name), shape, scalar, {}));
  }

  InstructionId number(DType dtype, double value) {
    const auto [known, added] = numbers_.try_emplace({dtype, value}, -1);
    if (!added) return known->second;
    tensor::Literal literal((Shape(dtype, {})));
    literal.set(0, value);
    return known->second = append(hlo::make_constant(fresh(value == 0 ? "no_gradient" : "micro_batches"), literal));
  }

  // Sums are taken as soon as there is what to add.
  void accumulate_made_by(InstructionId id) {
    const auto found = made_by_.find(id);
    if (found == made_by_.end()) return;
    for (const size_t k : found->second) {
      const Crossing& crossing = cut_.crossings()[k];
      const Shape shape = cut_.shape_of(crossing);
      const InstructionId value = crossing.marker < 0 ? element(cut_.outputs()[crossing.output]) : map_.at(at(id));
      stored_[k] = is_averaged(shape.dtype) ? accumulate(value, shape, number_[k])
                                            : add(Opcode::kCopy, fmt::format("latest.{}", number_[k]), shape, {value});
    }
  }

  void average() {
    for (size_t k = 0; k < stored_.size(); ++k) {
      const Crossing& crossing = cut_.crossings()[k];
      if (crossing.marker < 0) continue;
      const Shape& shape = old_[crossing.value].shape;
      results_[{crossing.marker, crossing.operand}] = is_averaged(shape.dtype) ? mean(stored_[k], shape) : stored_[k];
    }
  }

  InstructionId accumulate(InstructionId value, const Shape& shape, int64_t k) {
    const Shape sum(sum_type(shape.dtype), shape.dims);
    const InstructionId first = broadcast(fmt::format("first.{}", k), flag_, Shape(DType::kPred, shape.dims));
    const InstructionId zeros = broadcast(fmt::format("zeros.{}", k), number(sum.dtype, 0), sum);
    const InstructionId before =
        add(Opcode::kSelect, fmt::format("before.{}", k), sum, {first, zeros, accumulators_[static_cast<size_t>(k)]});
    if (sum.dtype != shape.dtype) value = add(Opcode::kConvert, fmt::format("addend.{}", k), sum, {value});
    return add(Opcode::kAdd, fmt::format("accumulated.{}", k), sum, {before, value});
  }

  InstructionId mean(InstructionId accumulated, const Shape& shape) {
    const Shape sum(sum_type(shape.dtype), shape.dims);
    const std::string name = new_[at(accumulated)].name;
    const InstructionId count =
        broadcast(name + ".count", number(sum.dtype, static_cast<double>(request_.micro_batches)), sum);
    const InstructionId result = add(Opcode::kDivide, name + ".mean", sum, {accumulated, count});
    return sum.dtype == shape.dtype ? result : add(Opcode::kConvert, name + ".result", shape, {result});
  }

  WrittenAccumulation finish() {
    std::vector<InstructionId> roots(cut_.outputs().size(), -1);
    std::vector<InstructionId> accumulated, latest;
    for (size_t k = 0; k < stored_.size(); ++k) {
      const Crossing& crossing = cut_.crossings()[k];
      if (crossing.marker < 0) roots[crossing.output] = stored_[k];
      (is_averaged(new_[at(stored_[k])].shape.dtype) ? accumulated : latest).push_back(stored_[k]);
    }
    for (size_t k = 0; k < cut_.outputs().size(); ++k) {
      if (roots[k] < 0) roots[k] = result_leaf(cut_.outputs()[k]);
    }
    layout_.num_outputs = static_cast<int64_t>(roots.size());
    roots.insert(roots.end(), accumulated.begin(), accumulated.end());
    roots.insert(roots.end(), latest.begin(), latest.end());
    std::vector<Shape> shapes;
    for (const InstructionId id : roots) shapes.push_back(new_[at(id)].shape);
    const InstructionId root = add(Opcode::kTuple, "step_and_accumulators", Shape::tuple(shapes), roots);
    WrittenAccumulation result{module_, layout_};
    std::vector<hlo::Alias> aliases = hlo::input_output_aliases(module_);
    for (int64_t k = 0; k < layout_.num_accumulators; ++k)
      aliases.push_back({.output = layout_.accumulated(k), .parameter = layout_.accumulator(k)});
    Computation& entry = result.module.entry_computation();
    entry.proto = nullptr;
    entry.instructions = std::move(new_);
    entry.root = root;
    hlo::set_input_output_aliases(result.module, aliases);
    return result;
  }

  InstructionId result_leaf(const Leaf& leaf) {
    if (!hlo::is_gradient_marker(old_[leaf.id])) return element(leaf);
    return results_.at({leaf.id, leaf.path.empty() ? 0 : static_cast<size_t>(leaf.path[0])});
  }

  const hlo::Module& module_;
  const Computation& old_;
  const AccumulationRequest& request_;
  const GradientCut cut_;
  Accumulation layout_;
  std::set<std::string> names_;
  std::vector<Instruction> new_;
  std::vector<InstructionId> map_;
  std::map<std::pair<InstructionId, size_t>, InstructionId> results_;  ///< What stands for elements of markers.
  std::map<std::pair<DType, double>, InstructionId> numbers_;
  InstructionId flag_ = -1;
  std::vector<InstructionId> accumulators_;
  std::map<InstructionId, std::vector<size_t>> made_by_;  ///< Crossings by the instruction that makes their value.
  std::vector<int64_t> number_;                           ///< By crossing: of its accumulator or latest value.
  std::vector<InstructionId> stored_;                     ///< By crossing: what goes from micro-batches to the step.
};

}  // namespace

DType sum_type(DType dtype) {
  return tensor::is_floating(dtype) && tensor::bit_width(dtype) < 32 ? DType::kF32 : dtype;
}

WrittenAccumulation write_accumulation(const hlo::Module& module, const AccumulationRequest& request) {
  return Writer(module, request).run();
}

}  // namespace alpa::passes
