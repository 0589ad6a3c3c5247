#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "alpa/hlo/module.h"

namespace alpa::hlo {

/// Names and channels that a module has not used yet; both must differ over the whole module.
class FreshNames {
 public:
  explicit FreshNames(const Module& module);

  /// `stem`.1, `stem`.2, ...
  std::string name(const std::string& stem);
  int64_t channel() { return ++last_channel_; }

 private:
  std::set<std::string> used_;
  std::map<std::string, int64_t> last_;  ///< Number that a stem was given last.
  int64_t last_channel_ = 0;
};

/// A computation while it is rewritten: instructions are added at the end, uses are moved from one instruction to
/// another, and none is taken away until the end, so that ids hold. An instruction may come before its operands until
/// then.
class Rewrite {
 public:
  explicit Rewrite(Computation computation);

  const Computation& computation() const { return computation_; }
  const Instruction& operator[](InstructionId id) const { return computation_[id]; }
  int32_t size() const { return computation_.size(); }
  /// Instructions that have `id` among their operands, each once, in order of their ids.
  std::vector<InstructionId> users(InstructionId id) const;
  /// Uses of `id`: operands of other instructions, and one if it is the root.
  int64_t use_count(InstructionId id) const;
  /// True if a control dependency begins or ends here: such instructions are best left alone.
  bool is_ordered(InstructionId id) const { return ordered_[static_cast<size_t>(id)]; }

  InstructionId add(Instruction instruction);
  /// All uses of `from` become uses of `to`, which has its shape; a root too.
  void replace_uses(InstructionId from, InstructionId to);
  void set_operands(InstructionId id, std::vector<InstructionId> operands);

  /// The result: operands before their uses, otherwise in the order of the ids; what nothing uses is left out, but for
  /// parameters, side effects, loops, branches and calls.
  Computation finish() &&;

 private:
  void count(InstructionId id);
  std::vector<bool> needed() const;

  Computation computation_;
  std::vector<std::multiset<InstructionId>> users_;
  std::vector<bool> ordered_;
};

/// Rewrites each computation that a step runs: the entry and those of its loops, branches and calls, not what is
/// applied to elements. Computations that nothing calls afterwards are left out.
Module rewrite_computations(const Module& module, const std::function<void(Rewrite&, FreshNames&)>& change);

}  // namespace alpa::hlo
