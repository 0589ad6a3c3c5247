#include "alpa/passes/write_accumulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/markers.h"
#include "alpa/passes/drop_markers.h"
#include "alpa/passes/reach.h"

namespace alpa::passes {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using tensor::DType;
using tensor::Shape;

constexpr const char* kPlace = "micro-batches";

bool is_averaged(DType dtype) { return tensor::is_floating(dtype) || tensor::is_complex(dtype); }

// The element type of the accumulator.
DType sum_type(DType dtype) {
  return tensor::is_floating(dtype) && tensor::bit_width(dtype) < 32 ? DType::kF32 : dtype;
}

void check_marker(const Computation& entry, const Instruction& marker, const AccumulationRequest& request) {
  require_identity(entry, marker);
  const bool says = hlo::backend_config(marker).find("num_values") != std::string::npos;
  require<InvalidArgumentError>(says || request.marked_operands, kPlace,
                                "marker {} ({}) does not say which of its operands are gradients: give \"num_values\" "
                                "in its backend_config, or \"marker\": {{\"operands\": [...]}} in --meta",
                                marker.name, hlo::kGradientMarker);
  require<InvalidArgumentError>(says || *request.marked_operands == marker.operands.size(), kPlace,
                                "marker {} has {} operands, --meta lists {} in \"marker\": is it of this program?",
                                marker.name, marker.operands.size(), request.marked_operands.value_or(0));
}

// The step rewritten instruction by instruction.
class Writer {
 public:
  Writer(const hlo::Module& module, const AccumulationRequest& request)
      : module_(module), old_(module.entry_computation()), request_(request), reach_(old_) {
    map_.assign(old_.instructions.size(), -1);
    for (const Computation& computation : module.computations) {
      for (const Instruction& instruction : computation.instructions) names_.insert(instruction.name);
    }
    layout_.micro_batches = request.micro_batches;
  }

  WrittenAccumulation run() {
    find_markers();
    find_dependences();
    outputs_ = leaves(old_.root);
    need_for_outputs();
    need_for_gradients();
    write_parameters();
    for (InstructionId id = 0; id < old_.size(); ++id) {
      if (for_gradients_[at(id)]) copy(id);
    }
    accumulate();
    for (InstructionId id = 0; id < old_.size(); ++id) {
      if (for_outputs_[at(id)]) copy(id);
    }
    return finish();
  }

 private:
  /// One array of an instruction's value.
  struct Leaf {
    InstructionId id = 0;
    std::vector<int64_t> path;  ///< Elements of tuples.
  };
  /// An operand of a marker that the step uses, or an output that passes all markers by.
  struct Crossing {
    InstructionId value = 0;
    InstructionId marker = -1;
    size_t operand = 0;
    size_t output = 0;
    InstructionId stored = -1;  ///< In the new program: what crosses from micro-batches to the step.
  };

  static size_t at(InstructionId id) { return static_cast<size_t>(id); }
  InstructionId seen(InstructionId id) const { return reach_.seen_through(id); }

  void find_markers() {
    for (InstructionId id = 0; id < old_.size(); ++id) {
      if (!hlo::is_gradient_marker(old_[id])) continue;
      check_marker(old_, old_[id], request_);
      markers_.push_back(id);
    }
    require<InvalidArgumentError>(!markers_.empty(), kPlace,
                                  "the program has no gradient marker ({}), which tells where gradients are found and "
                                  "where they are applied: export it with one (in C++: value_and_grad or grad directly "
                                  "in the step), or use 1 micro-batch",
                                  hlo::kGradientMarker);
  }

  void find_dependences() {
    of_batch_.assign(old_.instructions.size(), false);
    of_marker_.assign(old_.instructions.size(), false);
    for (InstructionId id = 0; id < old_.size(); ++id) {
      const Instruction& instruction = old_[id];
      if (instruction.opcode == Opcode::kParameter)
        of_batch_[at(id)] = request_.batch_inputs.at(static_cast<size_t>(hlo::parameter_number(instruction)));
      for (const InstructionId operand : reach_.operands(id)) {
        of_batch_[at(id)] = of_batch_[at(id)] || of_batch_[at(operand)];
        of_marker_[at(id)] = of_marker_[at(id)] || of_marker_[at(operand)];
      }
      if (!hlo::is_gradient_marker(instruction)) continue;
      require<UnsupportedError>(!of_marker_[at(id)], kPlace,
                                "gradient marker {} comes after another one: gradients that depend on gradients of the "
                                "same step that are applied cannot be accumulated; use 1 micro-batch",
                                instruction.name);
      of_batch_[at(id)] = false;
      of_marker_[at(id)] = true;
    }
  }

  std::vector<Leaf> leaves(InstructionId root) const {
    std::vector<Leaf> result;
    add_leaves({seen(root), {}}, old_[root].shape, result);
    return result;
  }

  void add_leaves(const Leaf& leaf, const Shape& shape, std::vector<Leaf>& result) const {
    if (!shape.is_tuple()) return result.push_back(leaf);
    const Instruction& instruction = old_[leaf.id];
    for (size_t k = 0; k < shape.elements.size(); ++k) {
      if (leaf.path.empty() && instruction.opcode == Opcode::kTuple) {
        add_leaves({seen(instruction.operands[k]), {}}, shape.elements[k], result);
        continue;
      }
      Leaf element = leaf;
      element.path.push_back(static_cast<int64_t>(k));
      add_leaves(element, shape.elements[k], result);
    }
  }

  [[noreturn]] void raise_passes_by(const std::string& what) const {
    raise<InvalidArgumentError>(
        kPlace,
        "{} depends on the batch otherwise than through the gradient marker, so {} micro-batches "
        "would leave only the last one's value: return it as an auxiliary output of "
        "value_and_grad, or use 1 micro-batch",
        what, request_.micro_batches);
  }

  const std::string& output_name(size_t output) const { return request_.output_names.at(output); }

  void need_for_outputs() {
    std::vector<InstructionId> roots;
    for (size_t k = 0; k < outputs_.size(); ++k) {
      const InstructionId id = outputs_[k].id;
      if (!of_batch_[at(id)]) {
        use(outputs_[k], roots);
        continue;
      }
      const Shape& shape = shape_of(outputs_[k]);
      if (of_marker_[at(id)] || is_averaged(shape.dtype)) raise_passes_by("output " + output_name(k));
      crossings_.push_back({id, -1, 0, k, -1});
    }
    for_outputs_ = reach_.ancestors(roots, [&](InstructionId id) { return hlo::is_gradient_marker(old_[id]); });
    for (InstructionId id = 0; id < old_.size(); ++id) {
      if (!for_outputs_[at(id)]) continue;
      if (of_batch_[at(id)]) raise_passes_by(where(id));
      for (const InstructionId operand : reach_.operands(id)) use_marker(operand, id);
    }
    std::stable_sort(crossings_.begin(), crossings_.end(), [](const Crossing& a, const Crossing& b) {
      return std::pair(at(a.marker), a.operand) < std::pair(at(b.marker), b.operand);
    });
  }

  std::string where(InstructionId id) const {
    const std::string path = hlo::op_name(old_[id]);
    return fmt::format("instruction {}{}", old_[id].name, path.empty() ? "" : " (" + path + ")");
  }

  // A leaf of an output: what is to be computed for it, if it is not a marker's element itself.
  void use(const Leaf& leaf, std::vector<InstructionId>& roots) {
    if (!hlo::is_gradient_marker(old_[leaf.id])) return roots.push_back(leaf.id);
    use_operand(leaf.id, leaf.path.empty() ? 0 : static_cast<size_t>(leaf.path[0]));
  }

  void use_marker(InstructionId operand, InstructionId user) {
    const Instruction& marker = old_[operand];
    if (!hlo::is_gradient_marker(marker)) return;
    if (old_[user].opcode == Opcode::kGetTupleElement)
      return use_operand(operand, static_cast<size_t>(hlo::tuple_index(old_[user])));
    for (size_t k = 0; k < marker.operands.size(); ++k) use_operand(operand, k);
  }

  void use_operand(InstructionId marker, size_t operand) {
    if (!used_.emplace(marker, operand).second) return;
    crossings_.push_back({seen(old_[marker].operands[operand]), marker, operand, 0, -1});
  }

  void need_for_gradients() {
    std::vector<InstructionId> roots;
    for (const Crossing& crossing : crossings_) roots.push_back(crossing.value);
    for_gradients_ = reach_.ancestors(roots, [](InstructionId) { return false; });
    for (InstructionId id = 0; id < old_.size(); ++id) {
      const Opcode opcode = old_[id].opcode;
      require<UnsupportedError>(
          !for_gradients_[at(id)] || !for_outputs_[at(id)] ||
              (opcode != Opcode::kRng && opcode != Opcode::kRngGetAndUpdateState),
          kPlace, "{} draws random numbers both for the gradients and for what follows them: use 1 micro-batch",
          where(id));
    }
  }

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
    for (Crossing& crossing : crossings_) {
      const Shape shape = crossing_shape(crossing);
      if (!is_averaged(shape.dtype)) continue;
      const int64_t k = layout_.num_accumulators++;
      accumulators_.push_back(append(hlo::make_parameter(
          fresh(fmt::format("accumulator.{}", k)), Shape(sum_type(shape.dtype), shape.dims), layout_.accumulator(k))));
    }
  }

  Shape shape_of(const Leaf& leaf) const {
    Shape shape = old_[leaf.id].shape;
    for (const int64_t k : leaf.path) shape = Shape(shape.elements.at(static_cast<size_t>(k)));
    return shape;
  }

  Shape crossing_shape(const Crossing& crossing) const {
    return crossing.marker < 0 ? shape_of(outputs_[crossing.output]) : old_[crossing.value].shape;
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

  // All sums, then all means: what runs for each micro-batch is in one piece.
  void accumulate() {
    size_t next = 0;
    for (Crossing& crossing : crossings_) {
      const Shape shape = crossing_shape(crossing);
      const InstructionId value =
          crossing.marker < 0 ? element(outputs_[crossing.output]) : map_.at(at(crossing.value));
      crossing.stored = is_averaged(shape.dtype)
                            ? accumulate(value, shape, accumulators_[next], next)
                            : add(Opcode::kCopy, fmt::format("latest.{}", layout_.num_latest++), shape, {value});
      next += is_averaged(shape.dtype);
    }
    for (const Crossing& crossing : crossings_) {
      if (crossing.marker < 0) continue;
      const Shape& shape = old_[crossing.value].shape;
      results_[{crossing.marker, crossing.operand}] =
          is_averaged(shape.dtype) ? mean(crossing.stored, shape) : crossing.stored;
    }
  }

  InstructionId accumulate(InstructionId value, const Shape& shape, InstructionId accumulator, size_t k) {
    const Shape sum(sum_type(shape.dtype), shape.dims);
    const InstructionId first = broadcast(fmt::format("first.{}", k), flag_, Shape(DType::kPred, shape.dims));
    const InstructionId zeros = broadcast(fmt::format("zeros.{}", k), number(sum.dtype, 0), sum);
    const InstructionId before = add(Opcode::kSelect, fmt::format("before.{}", k), sum, {first, zeros, accumulator});
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
    std::vector<InstructionId> roots(outputs_.size(), -1);
    std::vector<InstructionId> accumulated, latest;
    for (const Crossing& crossing : crossings_) {
      if (crossing.marker < 0) roots[crossing.output] = crossing.stored;
      (is_averaged(new_[at(crossing.stored)].shape.dtype) ? accumulated : latest).push_back(crossing.stored);
    }
    for (size_t k = 0; k < outputs_.size(); ++k) {
      if (roots[k] < 0) roots[k] = result_leaf(outputs_[k]);
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
  const Reach reach_;
  Accumulation layout_;
  std::vector<InstructionId> markers_;
  std::vector<bool> of_batch_, of_marker_;         ///< By instruction: what it depends on.
  std::vector<bool> for_outputs_, for_gradients_;  ///< By instruction: what needs it.
  std::vector<Leaf> outputs_;
  std::set<std::pair<InstructionId, size_t>> used_;
  std::vector<Crossing> crossings_;
  std::set<std::string> names_;
  std::vector<Instruction> new_;
  std::vector<InstructionId> map_;
  std::map<std::pair<InstructionId, size_t>, InstructionId> results_;  ///< What stands for elements of markers.
  std::map<std::pair<DType, double>, InstructionId> numbers_;
  InstructionId flag_ = -1;
  std::vector<InstructionId> accumulators_;
};

}  // namespace

WrittenAccumulation write_accumulation(const hlo::Module& module, const AccumulationRequest& request) {
  return Writer(module, request).run();
}

}  // namespace alpa::passes
