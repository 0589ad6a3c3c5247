#pragma once

#include <map>
#include <vector>

#include "alpa/hlo/rewrite.h"

namespace alpa::passes {

/// Which values of a partitioned computation go into sums by linear operations (hlo/linear_operands.h) and collectives
/// alone, and which of those are made of collectives: such collectives can be done on the sums instead.
class LinearFlow {
 public:
  /// `updates`: by instruction that adds to a sum, the position of the operand that it adds. `computation` stays as it
  /// is.
  LinearFlow(const hlo::Module& module, const hlo::Rewrite& computation, int64_t num_devices,
             std::map<hlo::InstructionId, size_t> updates);

  /// True if a value goes into the sums and nowhere else.
  bool is_absorbed(hlo::InstructionId id) const { return absorbed_[at(id)] != 0; }
  /// True if it is made of collectives besides: it can be made of sums instead.
  bool is_above(hlo::InstructionId id) const { return absorbed_[at(id)] != 0 && gathered_[at(id)] != 0; }
  /// Operands that would be sums where the value is; the others are fixed.
  std::vector<size_t> linear_operands(hlo::InstructionId id) const;

  /// What has to be summed for a value that is above: it is made of these leaves and of fixed values alone.
  struct Ways {
    std::vector<hlo::InstructionId> leaves;  ///< Each once, in order of use.
    std::vector<hlo::InstructionId> above;   ///< Each once.
  };
  Ways ways(hlo::InstructionId above) const;

 private:
  static size_t at(hlo::InstructionId id) { return static_cast<size_t>(id); }
  bool is_linear_collective(hlo::InstructionId id) const;
  bool goes_into_sums(hlo::InstructionId id) const;

  const hlo::Module& module_;
  const hlo::Rewrite& rewrite_;
  const int64_t num_devices_;
  const std::map<hlo::InstructionId, size_t> updates_;
  const std::vector<bool> fixed_;
  std::vector<char> absorbed_, gathered_;  ///< By instruction; gathered: a collective, or made of one that is above.
};

}  // namespace alpa::passes
