#include "alpa/passes/gradient_cut.h"

#include <fmt/format.h>

#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/markers.h"
#include "alpa/passes/drop_markers.h"

namespace alpa::passes {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using tensor::Shape;

constexpr const char* kPlace = "micro-batches";

size_t at(InstructionId id) { return static_cast<size_t>(id); }

void check_marker(const Computation& entry, const Instruction& marker, const AccumulationRequest& request) {
  require_identity(entry, marker);
  const bool says = hlo::backend_config(marker).find("num_values") != std::string::npos;
  require<InvalidArgumentError>(says || request.marked_operands, kPlace,
                                "marker {} ({}) does not say which of its operands are gradients: give \"num_values\" "
                                "in its backend_config, or \"marker\": {{\"operands\": [...]}} in --meta",
                                marker.name, hlo::kGradientMarker);
  require<InvalidArgumentError>(says || request.marked_operands == marker.operands.size(), kPlace,
                                "marker {} has {} operands, --meta lists {} in \"marker\": is it of this program?",
                                marker.name, marker.operands.size(), request.marked_operands.value_or(0));
}

}  // namespace

bool is_averaged(tensor::DType dtype) { return tensor::is_floating(dtype) || tensor::is_complex(dtype); }

GradientCut::GradientCut(const Computation& entry, const AccumulationRequest& request)
    : entry_(entry), request_(request), reach_(entry) {
  check_markers();
  find_dependences();
  add_leaves({reach_.seen_through(entry.root)}, entry[entry.root].shape);
  need_for_outputs();
  need_for_gradients();
}

Shape GradientCut::shape_of(const Leaf& leaf) const {
  Shape shape = entry_[leaf.id].shape;
  for (const int64_t k : leaf.path) shape = Shape(shape.elements.at(static_cast<size_t>(k)));
  return shape;
}

Shape GradientCut::shape_of(const Crossing& crossing) const {
  return crossing.marker < 0 ? shape_of(outputs_[crossing.output]) : entry_[crossing.value].shape;
}

void GradientCut::check_markers() const {
  bool found = false;
  for (const Instruction& instruction : entry_.instructions) {
    if (!hlo::is_gradient_marker(instruction)) continue;
    check_marker(entry_, instruction, request_);
    found = true;
  }
  require<InvalidArgumentError>(found, kPlace,
                                "the program has no gradient marker ({}), which tells where gradients are found and "
                                "where they are applied: export it with one (in C++: value_and_grad or grad directly "
                                "in the step), or use 1 micro-batch",
                                hlo::kGradientMarker);
}

void GradientCut::find_dependences() {
  of_batch_.assign(entry_.instructions.size(), false);
  of_marker_.assign(entry_.instructions.size(), false);
  for (InstructionId id = 0; id < entry_.size(); ++id) {
    const Instruction& instruction = entry_[id];
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

void GradientCut::add_leaves(const Leaf& leaf, const Shape& shape) {
  if (!shape.is_tuple()) return outputs_.push_back(leaf);
  const Instruction& instruction = entry_[leaf.id];
  for (size_t k = 0; k < shape.elements.size(); ++k) {
    if (leaf.path.empty() && instruction.opcode == Opcode::kTuple) {
      add_leaves({reach_.seen_through(instruction.operands[k]), {}}, shape.elements[k]);
      continue;
    }
    Leaf element = leaf;
    element.path.push_back(static_cast<int64_t>(k));
    add_leaves(element, shape.elements[k]);
  }
}

void GradientCut::raise_passes_by(const std::string& what) const {
  raise<InvalidArgumentError>(kPlace,
                              "{} depends on the batch otherwise than through the gradient marker, so {} micro-batches "
                              "would leave only the last one's value: return it as an auxiliary output of "
                              "value_and_grad, or use 1 micro-batch",
                              what, request_.micro_batches);
}

void GradientCut::need_for_outputs() {
  std::vector<InstructionId> roots;
  for (size_t k = 0; k < outputs_.size(); ++k) {
    const InstructionId id = outputs_[k].id;
    if (!of_batch_[at(id)]) {
      use(outputs_[k], roots);
      continue;
    }
    const Shape& shape = shape_of(outputs_[k]);
    if (of_marker_[at(id)] || is_averaged(shape.dtype)) raise_passes_by("output " + request_.output_names.at(k));
    crossings_.push_back({id, -1, 0, k});
  }
  for_outputs_ = reach_.ancestors(roots, [&](InstructionId id) { return hlo::is_gradient_marker(entry_[id]); });
  for (InstructionId id = 0; id < entry_.size(); ++id) {
    if (!for_outputs_[at(id)]) continue;
    if (of_batch_[at(id)]) raise_passes_by(where(id));
    for (const InstructionId operand : reach_.operands(id)) use_marker(operand, id);
  }
  std::stable_sort(crossings_.begin(), crossings_.end(), [](const Crossing& a, const Crossing& b) {
    return std::pair(at(a.marker), a.operand) < std::pair(at(b.marker), b.operand);
  });
}

std::string GradientCut::where(InstructionId id) const {
  const std::string path = hlo::op_name(entry_[id]);
  return fmt::format("instruction {}{}", entry_[id].name, path.empty() ? "" : " (" + path + ")");
}

// A leaf of an output: what is to be computed for it, if it is not a marker's element itself.
void GradientCut::use(const Leaf& leaf, std::vector<InstructionId>& roots) {
  if (!hlo::is_gradient_marker(entry_[leaf.id])) return roots.push_back(leaf.id);
  use_operand(leaf.id, leaf.path.empty() ? 0 : static_cast<size_t>(leaf.path[0]));
}

void GradientCut::use_marker(InstructionId operand, InstructionId user) {
  const Instruction& marker = entry_[operand];
  if (!hlo::is_gradient_marker(marker)) return;
  if (entry_[user].opcode == Opcode::kGetTupleElement)
    return use_operand(operand, static_cast<size_t>(hlo::tuple_index(entry_[user])));
  for (size_t k = 0; k < marker.operands.size(); ++k) use_operand(operand, k);
}

void GradientCut::use_operand(InstructionId marker, size_t operand) {
  if (!used_.emplace(marker, operand).second) return;
  crossings_.push_back({reach_.seen_through(entry_[marker].operands[operand]), marker, operand, 0});
}

void GradientCut::need_for_gradients() {
  std::vector<InstructionId> roots;
  for (const Crossing& crossing : crossings_) roots.push_back(crossing.value);
  for_gradients_ = reach_.ancestors(roots, [](InstructionId) { return false; });
  for (InstructionId id = 0; id < entry_.size(); ++id) {
    const Opcode opcode = entry_[id].opcode;
    require<UnsupportedError>(
        !for_gradients_[at(id)] || !for_outputs_[at(id)] ||
            (opcode != Opcode::kRng && opcode != Opcode::kRngGetAndUpdateState),
        kPlace, "{} draws random numbers both for the gradients and for what follows them: use 1 micro-batch",
        where(id));
  }
}

}  // namespace alpa::passes
