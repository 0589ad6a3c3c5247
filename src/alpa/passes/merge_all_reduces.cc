#include "alpa/passes/merge_all_reduces.h"

#include <algorithm>
#include <map>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"
#include "alpa/passes/collective.h"
#include "alpa/passes/linear.h"
#include "alpa/passes/sliced_part.h"

namespace alpa::passes {
namespace {

using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using hlo::Rewrite;
using tensor::Shape;

/// A value that is the sum over devices of something that each could make without communication.
struct Deferred {
  std::string key;                        ///< Of the all-reduces that make it.
  InstructionId model = -1;               ///< One of them.
  int64_t bytes = 0;                      ///< That they move together.
  Shape whole;                            ///< Of the sum.
  std::vector<Part> parts = {};           ///< Of the sum, that a device keeps: each a part of the one before.
  std::vector<InstructionId> terms = {};  ///< Operands that are such sums themselves; none of an all-reduce.
};

// Else no reduce-scatter can be made of it.
bool divide_one_dim(const Shape& whole, const std::vector<Part>& parts) {
  int64_t divided = 0;
  for (size_t dim = 0; dim < whole.dims.size(); ++dim) divided += parts.back().sizes[dim] != whole.dims[dim] ? 1 : 0;
  return divided == 1;
}

// Whether slices one after another take the same, in whichever steps.
bool take_the_same(const std::vector<Part>& a, const std::vector<Part>& b) {
  if (a.empty() || b.empty()) return a.empty() == b.empty();
  const auto taken = [](const std::vector<Part>& parts) {
    Part result = parts.front();
    for (size_t k = 1; k < parts.size(); ++k) result = part_within(std::move(result), parts[k]);
    return result;
  };
  return taken(a) == taken(b);
}

// What a transposition makes of it, whose result's dim k is dim `order[k]`.
template <typename T>
std::vector<T> reordered(const std::vector<T>& values, const std::vector<int64_t>& order) {
  std::vector<T> result;
  for (const int64_t from : order) result.push_back(values[static_cast<size_t>(from)]);
  return result;
}

class Merger {
 public:
  Merger(const hlo::Module& module, Rewrite& rewrite, hlo::FreshNames& names, int64_t num_devices)
      : module_(module), rewrite_(rewrite), names_(names), num_devices_(num_devices), values_(rewrite, num_devices) {}

  /// True if it merged any.
  bool run() {
    const InstructionId count = rewrite_.size();
    for (InstructionId id = 0; id < count; ++id) note(id);
    for (InstructionId id = 0; id < count; ++id) {
      if (is_last_sum(id)) sum_after(id);
    }
    return rewrite_.size() > count;
  }

 private:
  const Deferred* deferred(InstructionId id) const {
    const auto found = deferred_.find(id);
    return found == deferred_.end() ? nullptr : &found->second;
  }

  // Deferred, and all of its use is one operand: then nothing else wants the sum.
  const Deferred* absorbed(InstructionId id) const { return rewrite_.use_count(id) == 1 ? deferred(id) : nullptr; }

  void note(InstructionId id) {
    const Instruction& one = rewrite_[id];
    switch (one.opcode) {
      case Opcode::kAllReduce: {
        const auto sum = collective(module_, rewrite_, id, num_devices_);
        if (sum && sum->is_sum())
          deferred_[id] = {kind_key(*sum, one.shape.dtype), id, tensor::byte_size(one.shape), one.shape};
        return;
      }
      case Opcode::kAdd:
      case Opcode::kSubtract: return note_sum(id);
      case Opcode::kDynamicSlice: return note_slice(id);
      default: return note_linear(id);
    }
  }

  void note_sum(InstructionId id) {
    const Instruction& one = rewrite_[id];
    const Deferred* a = absorbed(one.operands[0]);
    const Deferred* b = absorbed(one.operands[1]);
    if (a == nullptr || b == nullptr || a->key != b->key || rewrite_.is_ordered(id)) return;
    if (a->whole.dims != b->whole.dims || !take_the_same(a->parts, b->parts)) return;
    // A reduce-scatter may be made of one slice where it cannot be made of all.
    const std::vector<Part>& parts = a->parts.size() < b->parts.size() ? b->parts : a->parts;
    deferred_[id] = {a->key, a->model, a->bytes + b->bytes, a->whole, parts, one.operands};
  }

  // The sum of parts is a part of the sum.
  void note_slice(InstructionId id) {
    const InstructionId operand = rewrite_[id].operands[0];
    const Deferred* from = absorbed(operand);
    if (from == nullptr || rewrite_.is_ordered(id)) return;
    auto part = taken_part(rewrite_, id, values_);
    if (!part) return;
    Deferred sliced = *from;
    sliced.parts.push_back(*std::move(part));
    if (!divide_one_dim(sliced.whole, sliced.parts)) return;
    sliced.terms = {operand};
    deferred_[id] = std::move(sliced);
  }

  void note_linear(InstructionId id) {
    for (const InstructionId operand : rewrite_[id].operands) {
      const Deferred* from = absorbed(operand);
      if (from == nullptr || !is_linear(module_, rewrite_, id, operand, num_devices_)) continue;
      Deferred made = *from;
      made.terms = {operand};
      if (made.parts.empty()) {
        made.whole = rewrite_[id].shape;
      } else if (!follow(id, operand, made)) {
        return;
      }
      deferred_[id] = std::move(made);
      return;
    }
  }

  // Whether it is made of a part of a sum just as of the whole; `made` says then of which whole it is which part.
  bool follow(InstructionId id, InstructionId operand, Deferred& made) const {
    const Instruction& one = rewrite_[id];
    switch (one.opcode) {
      case Opcode::kNegate:
      case Opcode::kCopy: return true;
      case Opcode::kTranspose: {
        const std::vector<int64_t> order = hlo::dimensions(one);
        made.whole.dims = reordered(made.whole.dims, order);
        for (Part& part : made.parts) part = {reordered(part.sizes, order), reordered(part.offsets, order)};
        return true;
      }
      case Opcode::kMultiply:
      case Opcode::kDivide: {
        const Instruction& other = rewrite_[one.operands[one.operands[0] == operand ? 1 : 0]];
        return other.opcode == Opcode::kBroadcast && rewrite_[other.operands[0]].shape.rank() == 0;
      }
      default: return false;
    }
  }

  // An addition that merges several all-reduces and that no further one takes in.
  bool is_last_sum(InstructionId id) const {
    const Opcode opcode = rewrite_[id].opcode;
    if ((opcode != Opcode::kAdd && opcode != Opcode::kSubtract) || deferred(id) == nullptr) return false;
    if (tensor::byte_size(deferred(id)->whole) > deferred(id)->bytes) return false;
    InstructionId value = id;
    while (rewrite_.use_count(value) == 1 && rewrite_.computation().root != value) {
      value = rewrite_.users(value).front();
      if (deferred(value) == nullptr) return true;
      if (rewrite_[value].opcode == Opcode::kAdd || rewrite_[value].opcode == Opcode::kSubtract) return false;
    }
    return true;
  }

  // One all-reduce comes after `id`, made of what each device has.
  void sum_after(InstructionId id) {
    const Deferred& sum = *deferred(id);
    Instruction all = hlo::clone(rewrite_[sum.model], names_.name("all-reduce.merged"), {addend(id)});
    all.shape = sum.whole;
    InstructionId value = rewrite_.add(std::move(all));
    for (const Part& part : sum.parts) value = add_slice(rewrite_, names_, value, part);
    rewrite_.replace_uses(id, value);
  }

  // What a device adds to the sum over devices, whole: `id` without the all-reduces and the slices that it is made of.
  InstructionId addend(InstructionId id) {
    const Deferred& made = *deferred(id);
    if (made.terms.empty()) return rewrite_[id].operands[0];
    if (rewrite_[id].opcode == Opcode::kDynamicSlice) return addend(made.terms.front());
    const Instruction one = rewrite_[id];
    std::vector<InstructionId> operands;
    for (const InstructionId operand : one.operands) {
      const bool is_term = std::find(made.terms.begin(), made.terms.end(), operand) != made.terms.end();
      operands.push_back(is_term              ? addend(operand)
                         : made.parts.empty() ? operand
                                              : broadcast(operand, made.whole.dims));
    }
    Instruction whole = hlo::clone(one, names_.name(one.name + ".addend"), std::move(operands));
    whole.shape = made.whole;
    return rewrite_.add(std::move(whole));
  }

  // A broadcast scalar, to other dims.
  InstructionId broadcast(InstructionId id, const std::vector<int64_t>& dims) {
    const Shape shape(rewrite_[id].shape.dtype, dims);
    return rewrite_.add(hlo::make_broadcast(names_.name("broadcast.whole"), shape, rewrite_[id].operands[0], {}));
  }

  const hlo::Module& module_;
  Rewrite& rewrite_;
  hlo::FreshNames& names_;
  int64_t num_devices_;
  PartitionValues values_;
  std::map<InstructionId, Deferred> deferred_;
};

}  // namespace

hlo::Module merge_all_reduces(const hlo::Module& module, int64_t num_devices) {
  hlo::Module result = module;
  // What is summed over one axis after another is merged axis by axis, the last one first.
  for (bool merged = true; merged;) {
    merged = false;
    const hlo::Module before = result;
    result = hlo::rewrite_computations(before, [&](Rewrite& rewrite, hlo::FreshNames& names) {
      merged |= Merger(before, rewrite, names, num_devices).run();
    });
  }
  return result;
}

}  // namespace alpa::passes
