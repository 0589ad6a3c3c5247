#include "alpa/passes/sliced_part.h"

#include <algorithm>

#include "alpa/hlo/attributes.h"

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
  // What a slice takes of its operand.
  std::optional<Part> taken(const Instruction& slice) {
    const Sizes& whole = rewrite_[slice.operands[0]].shape.dims;
    Part part{slice.shape.dims, {}};
    for (size_t dim = 0; dim < whole.size(); ++dim) {
      const int64_t last = whole[dim] - part.sizes[dim];
      std::vector<int64_t> offsets(devices_, 0);  // of a whole dim, whatever the instruction says
      if (last > 0) {
        const auto starts = values_.scalar(slice.operands[1 + dim]);
        if (!starts) return std::nullopt;
        for (size_t device = 0; device < devices_; ++device)
          offsets[device] = std::clamp<int64_t>((*starts)[device], 0, last);
      }
      part.offsets.push_back(std::move(offsets));
    }
    return part;
  }

  // The part of what `step` takes that becomes `part` of what it makes.
  std::optional<Part> before(const Instruction& step, const Part& part) {
    if (step.opcode != Opcode::kDynamicSlice) return before_step(rewrite_, step, part, devices_);
    auto outer = taken(step);
    if (!outer) return std::nullopt;
    for (size_t dim = 0; dim < part.sizes.size(); ++dim) {
      for (size_t device = 0; device < devices_; ++device) outer->offsets[dim][device] += part.offsets[dim][device];
    }
    outer->sizes = part.sizes;
    return outer;
  }

  bool add_slice(InstructionId slice) {
    auto last = taken(rewrite_[slice]);
    if (!last) return false;
    Part part = *std::move(last);
    std::vector<Sizes> sizes_after(path_.size());
    for (size_t k = path_.size(); k-- > 0;) {
      sizes_after[k] = part.sizes;
      auto earlier = before(rewrite_[path_[k]], part);
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

std::optional<std::vector<SlicedUse>> sliced_uses(const Rewrite& rewrite, InstructionId value, int depth,
                                                  PartitionValues& values) {
  if (tensor::num_elements(rewrite[value].shape) == 0) return std::nullopt;
  Collector collector(rewrite, values, static_cast<size_t>(values.num_devices()));
  if (!collector.collect(value, depth)) return std::nullopt;
  return std::move(collector.uses);
}

}  // namespace alpa::passes
