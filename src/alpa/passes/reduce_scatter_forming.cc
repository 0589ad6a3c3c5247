#include "alpa/passes/reduce_scatter_forming.h"

#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"
#include "alpa/mesh/logical_mesh.h"
#include "alpa/passes/collective.h"
#include "alpa/passes/scatter_form.h"

namespace alpa::passes {
namespace {

using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using hlo::Rewrite;
using tensor::Shape;

class Former {
 public:
  Former(const hlo::Module& module, Rewrite& rewrite, hlo::FreshNames& names, int64_t num_devices)
      : module_(module), rewrite_(rewrite), names_(names), values_(rewrite, num_devices) {}

  void run() {
    // What is added may be sliced again, along another dim.
    for (InstructionId id = 0; id < rewrite_.size(); ++id) {
      if (rewrite_[id].opcode == Opcode::kAllReduce) form(id);
    }
  }

 private:
  void form(InstructionId id) {
    const auto reduction = collective(module_, rewrite_, id, values_.num_devices());
    if (!reduction) return;
    // A dim that several axes divide is sliced axis by axis: all of it at once if that has a form.
    for (int depth = mesh::kMaxAxes; depth > 0; --depth) {
      if (form(id, *reduction, depth)) return;
    }
  }

  bool form(InstructionId id, const Collective& reduction, int depth) {
    const auto uses = sliced_uses(rewrite_, id, depth, values_);
    if (!uses) return false;
    const Part& part = uses->front().part;
    if (std::any_of(uses->begin(), uses->end(), [&](const SlicedUse& use) { return !(use.part == part); }))
      return false;
    const auto form = scatter_form(rewrite_[id].shape.dims, part, reduction.groups);
    if (!form) return false;
    const InstructionId kept = scattered(id, *form, part);
    for (const SlicedUse& use : *uses) replay(use, kept);
    return true;
  }

  InstructionId scattered(InstructionId id, const ScatterForm& form, const Part& part) {
    const Instruction reduction = rewrite_[id];
    const auto dims = Shape(reduction.shape.dtype, part.sizes);
    InstructionId value = before(reduction, form);
    if (!form.dim) return rewrite_.add(with_operand(reduction, "all-reduce.sliced", value, dims));
    Instruction scatter = with_operand(reduction, "reduce-scatter.formed", value, dims);
    scatter.opcode = Opcode::kReduceScatter;
    hlo::set_dimensions(scatter, {*form.dim});
    hlo::set_replica_groups(scatter, form.scatter);
    value = rewrite_.add(std::move(scatter));
    if (form.reduce.empty()) return value;
    Instruction rest = with_operand(reduction, "all-reduce.of_part", value, dims);
    hlo::set_channel_id(rest, names_.channel());
    hlo::set_replica_groups(rest, form.reduce);
    return rewrite_.add(std::move(rest));
  }

  Instruction with_operand(const Instruction& reduction, const std::string& stem, InstructionId operand,
                           const Shape& shape) {
    Instruction copy = hlo::clone(reduction, names_.name(stem), {operand});
    copy.shape = shape;
    return copy;
  }

  // What each device puts into the reduction: its array, cut to what the group keeps.
  InstructionId before(const Instruction& reduction, const ScatterForm& form) {
    InstructionId value = reduction.operands[0];
    Shape shape = reduction.shape;
    Part cut = form.before;
    if (form.stride > 1) {  // [.., n, ..] as [.., parts, stride, size, ..], of whose second one is kept
      const auto dim = static_cast<size_t>(*form.dim);
      const int64_t parts = static_cast<int64_t>(form.scatter.front().size());
      const int64_t size = cut.sizes[dim] / parts;
      const auto at = static_cast<std::ptrdiff_t>(dim);
      shape.dims[dim] = size;
      shape.dims.insert(shape.dims.begin() + at, {parts, form.stride});
      value = reshaped(value, shape);
      cut.sizes[dim] = size;
      cut.sizes.insert(cut.sizes.begin() + at, {parts, 1});
      std::vector<int64_t> which = cut.offsets[dim];
      for (int64_t& offset : which) offset /= size;
      const std::vector<int64_t> none(which.size(), 0);
      cut.offsets[dim] = none;
      cut.offsets.insert(cut.offsets.begin() + at, {none, which});
    }
    value = add_slice(rewrite_, names_, value, cut);
    return reshaped(value, Shape(shape.dtype, form.before.sizes));
  }

  InstructionId reshaped(InstructionId value, const Shape& shape) {
    if (rewrite_[value].shape == shape) return value;
    return rewrite_.add(hlo::make_instruction(Opcode::kReshape, names_.name("reshape.part"), shape, {value}));
  }

  // The way from the all-reduce to a slice, gone with the part alone.
  void replay(const SlicedUse& use, InstructionId kept) {
    InstructionId value = kept;
    for (size_t k = 0; k < use.path.size(); ++k) {
      const Instruction step = rewrite_[use.path[k]];
      if (step.opcode == Opcode::kDynamicSlice) continue;  // the part is what it would leave
      Instruction copy = hlo::clone(step, names_.name(step.name + ".part"), {value});
      copy.shape = Shape(step.shape.dtype, use.sizes_after[k]);
      value = rewrite_.add(std::move(copy));
    }
    rewrite_.replace_uses(use.slice, value);
  }

  const hlo::Module& module_;
  Rewrite& rewrite_;
  hlo::FreshNames& names_;
  PartitionValues values_;
};

}  // namespace

hlo::Module reduce_scatter_forming(const hlo::Module& module, int64_t num_devices) {
  return hlo::rewrite_computations(
      module, [&](Rewrite& rewrite, hlo::FreshNames& names) { Former(module, rewrite, names, num_devices).run(); });
}

}  // namespace alpa::passes
