#include "alpa/passes/sliced_part.h"

#include <algorithm>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"

namespace alpa::passes {
namespace {

using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using hlo::Rewrite;
using Sizes = std::vector<int64_t>;

// Works on each element alone, or moves them about.
bool is_step(const Instruction& one) {
  if (one.operands.size() != 1 || !one.shape.is_array()) return false;
  switch (one.opcode) {
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kCopy:
    case Opcode::kConvert:
    case Opcode::kNegate: return true;
    default: return false;
  }
}

int64_t product(const Sizes& sizes, size_t begin, size_t end) {
  int64_t result = 1;
  for (size_t k = begin; k < end; ++k) result *= sizes[k];
  return result;
}

// The part of a reshape's operand that becomes `part` of its result: dim by dim, where what is cut off is a run of
// whole rows of one dim of the operand.
std::optional<Part> before_reshape(const Part& part, const Sizes& result, const Sizes& operand, size_t devices) {
  Part before{operand, std::vector<std::vector<int64_t>>(operand.size(), std::vector<int64_t>(devices, 0))};
  for (size_t dim = 0; dim < result.size(); ++dim) {
    if (part.sizes[dim] == result[dim]) continue;
    const int64_t rows = product(result, 0, dim);
    const int64_t stride = product(result, dim + 1, result.size());
    size_t from = 0;
    while (from < operand.size() && (product(operand, 0, from) != rows || operand[from] == 1)) ++from;
    if (from == operand.size()) return std::nullopt;
    const int64_t unit = product(operand, from + 1, operand.size());
    // Two dims of the result inside one of the operand would make a box that is none there.
    if (before.sizes[from] != operand[from] || part.sizes[dim] * stride % unit != 0) return std::nullopt;
    before.sizes[from] = part.sizes[dim] * stride / unit;
    for (size_t device = 0; device < devices; ++device) {
      if (part.offsets[dim][device] * stride % unit != 0) return std::nullopt;
      before.offsets[from][device] = part.offsets[dim][device] * stride / unit;
    }
  }
  return product(before.sizes, 0, before.sizes.size()) == product(part.sizes, 0, part.sizes.size())
             ? std::optional(before)
             : std::nullopt;
}

std::optional<Part> before_step(const Rewrite& rewrite, const Instruction& step, const Part& part, size_t devices) {
  if (step.opcode == Opcode::kReshape)
    return before_reshape(part, step.shape.dims, rewrite[step.operands[0]].shape.dims, devices);
  if (step.opcode != Opcode::kTranspose) return part;
  const Sizes perm = hlo::dimensions(step);
  Part before{Sizes(perm.size()), std::vector<std::vector<int64_t>>(perm.size())};
  for (size_t dim = 0; dim < perm.size(); ++dim) {
    before.sizes[static_cast<size_t>(perm[dim])] = part.sizes[dim];
    before.offsets[static_cast<size_t>(perm[dim])] = part.offsets[dim];
  }
  return before;
}

// A scalar that is `offsets[p]` on partition p.
InstructionId add_offset(Rewrite& rewrite, hlo::FreshNames& names, const std::vector<int64_t>& offsets) {
  const bool same = std::all_of(offsets.begin(), offsets.end(), [&](int64_t one) { return one == offsets[0]; });
  const tensor::Shape scalar(tensor::DType::kS64, {});
  tensor::Literal table(same ? scalar : tensor::Shape(tensor::DType::kS64, {static_cast<int64_t>(offsets.size())}));
  for (int64_t k = 0; k < tensor::num_elements(table.shape()); ++k)
    table.set(k, static_cast<double>(offsets[static_cast<size_t>(k)]));
  const InstructionId constant = rewrite.add(hlo::make_constant(names.name("constant.offsets"), table));
  if (same) return constant;
  const InstructionId partition = rewrite.add(hlo::make_instruction(
      Opcode::kPartitionId, names.name("partition-id.part"), tensor::Shape(tensor::DType::kU32, {}), {}));
  const InstructionId one = rewrite.add(hlo::make_dynamic_slice(
      names.name("dynamic-slice.offset"), tensor::Shape(tensor::DType::kS64, {1}), constant, {partition}));
  return rewrite.add(hlo::make_instruction(Opcode::kReshape, names.name("reshape.part"), scalar, {one}));
}

class Collector {
 public:
  Collector(const Rewrite& rewrite, PartitionValues& values, size_t devices)
      : rewrite_(rewrite), values_(values), devices_(devices) {}

  bool collect(InstructionId value, int depth) {
    if (rewrite_.computation().root == value || rewrite_.use_count(value) == 0) return false;
    for (const InstructionId user : rewrite_.users(value)) {
      const Instruction& one = rewrite_[user];
      if (rewrite_.is_ordered(user)) return false;
      const bool slices = one.opcode == Opcode::kDynamicSlice;
      if (slices && one.operands[0] != value) return false;
      if (slices && depth == 1) {
        if (!add_slice(user)) return false;
        continue;
      }
      if (!slices && !is_step(one)) return false;
      path_.push_back(user);
      if (!collect(user, slices ? depth - 1 : depth)) return false;
      path_.pop_back();
    }
    return true;
  }

  std::vector<SlicedUse> uses;

 private:
  // The part of what `step` takes that becomes `part` of what it makes.
  std::optional<Part> before(InstructionId id, const Part& part) {
    const Instruction& step = rewrite_[id];
    if (step.opcode != Opcode::kDynamicSlice) return before_step(rewrite_, step, part, devices_);
    auto outer = taken_part(rewrite_, id, values_);
    return outer ? std::optional(part_within(*std::move(outer), part)) : std::nullopt;
  }

  bool add_slice(InstructionId slice) {
    auto last = taken_part(rewrite_, slice, values_);
    if (!last) return false;
    Part part = *std::move(last);
    std::vector<Sizes> sizes_after(path_.size());
    for (size_t k = path_.size(); k-- > 0;) {
      sizes_after[k] = part.sizes;
      auto earlier = before(path_[k], part);
      if (!earlier) return false;
      part = *std::move(earlier);
    }
    uses.push_back({path_, std::move(sizes_after), slice, std::move(part)});
    return true;
  }

  const Rewrite& rewrite_;
  PartitionValues& values_;
  size_t devices_;
  std::vector<InstructionId> path_;
};

}  // namespace

std::optional<Part> taken_part(const Rewrite& rewrite, InstructionId slice, PartitionValues& values) {
  const Instruction& one = rewrite[slice];
  const Sizes& whole = rewrite[one.operands[0]].shape.dims;
  const auto devices = static_cast<size_t>(values.num_devices());
  Part part{one.shape.dims, {}};
  for (size_t dim = 0; dim < whole.size(); ++dim) {
    const int64_t last = whole[dim] - part.sizes[dim];
    std::vector<int64_t> offsets(devices, 0);  // of a whole dim, whatever the instruction says
    if (last > 0) {
      const auto starts = values.scalar(one.operands[1 + dim]);
      if (!starts) return std::nullopt;
      for (size_t device = 0; device < devices; ++device)
        offsets[device] = std::clamp<int64_t>((*starts)[device], 0, last);
    }
    part.offsets.push_back(std::move(offsets));
  }
  return part;
}

Part part_within(Part outer, const Part& inner) {
  for (size_t dim = 0; dim < inner.sizes.size(); ++dim) {
    for (size_t device = 0; device < inner.offsets[dim].size(); ++device)
      outer.offsets[dim][device] += inner.offsets[dim][device];
  }
  outer.sizes = inner.sizes;
  return outer;
}

InstructionId add_slice(Rewrite& rewrite, hlo::FreshNames& names, InstructionId value, const Part& part) {
  const tensor::Shape whole = rewrite[value].shape;
  if (whole.dims == part.sizes) return value;
  std::vector<InstructionId> starts;
  for (size_t dim = 0; dim < whole.dims.size(); ++dim) {
    const bool all = whole.dims[dim] == part.sizes[dim];
    starts.push_back(add_offset(rewrite, names, all ? Sizes(part.offsets[dim].size(), 0) : part.offsets[dim]));
  }
  return rewrite.add(
      hlo::make_dynamic_slice(names.name("dynamic-slice.part"), tensor::Shape(whole.dtype, part.sizes), value, starts));
}

std::optional<std::vector<SlicedUse>> sliced_uses(const Rewrite& rewrite, InstructionId value, int depth,
                                                  PartitionValues& values) {
  if (tensor::num_elements(rewrite[value].shape) == 0) return std::nullopt;
  Collector collector(rewrite, values, static_cast<size_t>(values.num_devices()));
  if (!collector.collect(value, depth)) return std::nullopt;
  return std::move(collector.uses);
}

}  // namespace alpa::passes
