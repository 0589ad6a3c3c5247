#pragma once

#include <functional>
#include <vector>

#include "alpa/hlo/module.h"

namespace alpa::passes {

/// Which instructions of a computation others need. Elements of tuples that are built in the computation are seen
/// through: what needs one element does not need the others.
class Reach {
 public:
  explicit Reach(const hlo::Computation& computation);

  /// The instruction itself, or the one whose value it picks out of a tuple.
  hlo::InstructionId seen_through(hlo::InstructionId id) const { return seen_[static_cast<size_t>(id)]; }
  /// Seen through.
  std::vector<hlo::InstructionId> operands(hlo::InstructionId id) const;

  /// By instruction: true for the roots and what they need. What `stop` holds for is needed, its operands are not.
  std::vector<bool> ancestors(const std::vector<hlo::InstructionId>& roots,
                              const std::function<bool(hlo::InstructionId)>& stop) const;

 private:
  const hlo::Computation& computation_;
  std::vector<hlo::InstructionId> seen_;
};

}  // namespace alpa::passes
