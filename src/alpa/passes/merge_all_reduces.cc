#include "alpa/passes/merge_all_reduces.h"

#include <algorithm>
#include <map>

#include "alpa/hlo/edit.h"
#include "alpa/passes/collective.h"
#include "alpa/passes/linear.h"

namespace alpa::passes {
namespace {

using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using hlo::Rewrite;

/// A value that is the sum over devices of something that each could make without communication.
struct Deferred {
  std::string key;                        ///< Of the all-reduces that make it.
  InstructionId model = -1;               ///< One of them.
  int64_t bytes = 0;                      ///< That they move together.
  std::vector<InstructionId> terms = {};  ///< Operands that are such sums themselves; none of an all-reduce.
};

class Merger {
 public:
  Merger(const hlo::Module& module, Rewrite& rewrite, hlo::FreshNames& names, int64_t num_devices)
      : module_(module), rewrite_(rewrite), names_(names), num_devices_(num_devices) {}

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
    if (one.opcode == Opcode::kAllReduce) {
      const auto sum = collective(module_, rewrite_, id, num_devices_);
      if (sum && sum->is_sum()) deferred_[id] = {kind_key(*sum, one.shape.dtype), id, tensor::byte_size(one.shape)};
      return;
    }
    if (one.opcode == Opcode::kAdd || one.opcode == Opcode::kSubtract) return note_sum(id);
    for (const InstructionId operand : one.operands) {
      const Deferred* from = absorbed(operand);
      if (from != nullptr && is_linear(module_, rewrite_, id, operand, num_devices_)) {
        deferred_[id] = {from->key, from->model, from->bytes, {operand}};
        return;
      }
    }
  }

  void note_sum(InstructionId id) {
    const Instruction& one = rewrite_[id];
    const Deferred* a = absorbed(one.operands[0]);
    const Deferred* b = absorbed(one.operands[1]);
    if (a == nullptr || b == nullptr || a->key != b->key || rewrite_.is_ordered(id)) return;
    deferred_[id] = {a->key, a->model, a->bytes + b->bytes, one.operands};
  }

  // An addition that merges several all-reduces and that no further one takes in.
  bool is_last_sum(InstructionId id) const {
    const Opcode opcode = rewrite_[id].opcode;
    if ((opcode != Opcode::kAdd && opcode != Opcode::kSubtract) || deferred(id) == nullptr) return false;
    if (tensor::byte_size(rewrite_[id].shape) > deferred(id)->bytes) return false;
    InstructionId value = id;
    while (rewrite_.use_count(value) == 1 && rewrite_.computation().root != value) {
      value = rewrite_.users(value).front();
      if (deferred(value) == nullptr) return true;
      if (rewrite_[value].opcode == Opcode::kAdd || rewrite_[value].opcode == Opcode::kSubtract) return false;
    }
    return true;
  }

  // The all-reduces below `id` fall away, and one comes after it.
  void sum_after(InstructionId id) {
    Instruction sum = hlo::clone(rewrite_[deferred(id)->model], names_.name("all-reduce.merged"), {id});
    sum.shape = rewrite_[id].shape;
    drop_below(id);
    rewrite_.replace_uses(id, rewrite_.add(std::move(sum)));
  }

  void drop_below(InstructionId id) {
    for (const InstructionId term : deferred(id)->terms) {
      if (deferred(term)->terms.empty()) {
        rewrite_.replace_uses(term, rewrite_[term].operands[0]);
      } else {
        drop_below(term);
      }
    }
  }

  const hlo::Module& module_;
  Rewrite& rewrite_;
  hlo::FreshNames& names_;
  int64_t num_devices_;
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
