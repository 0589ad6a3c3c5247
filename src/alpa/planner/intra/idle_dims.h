#pragma once

#include <vector>

#include "alpa/planner/intra/intra.h"
#include "alpa/planner/intra/rule_book.h"

namespace alpa::planner {

/// The dims of a program's values that are not worth dividing, so that no strategy divides them.
///
/// Dims over which a factor of some rule runs together form a class, through the whole program. A class is idle if
/// contractions keep it whole and none divides it, like the height and width of images: whatever is divided along it
/// is gathered again before the next contraction, and the class's values have other dims that contractions do divide.
/// A class in which a placement was asked for (pinned, or to start from) is not idle.
class IdleDims {
 public:
  IdleDims(const IntraRequest& request, const RuleBook& rules);

  bool idle(hlo::ValueId value, int dim) const;
  /// Whether a factor of a node's rule runs over idle dims.
  bool idle(const hlo::Node& node, const Factor& factor) const;

 private:
  int place(hlo::ValueId value, int dim) const { return first_[static_cast<size_t>(value)] + dim; }
  int find(int place);
  void join(const hlo::Node& node, const Factor& factor);
  void join(hlo::ValueId from, hlo::ValueId to);
  void note_contraction(const hlo::Node& node, const ShardingRule& rule);
  void note_asked(hlo::ValueId value, const sharding::ShardingSpec& spec);

  const hlo::ValueGraph& graph_;
  std::vector<char> generator_;   ///< By node.
  std::vector<int> first_;        ///< By value: the place of its first dim.
  std::vector<int> parent_;       ///< By place: union-find; at last the class's root itself.
  std::vector<char> kept_whole_;  ///< By place, later by the class's root: some contraction does not divide it.
  std::vector<char> divided_;     ///< ... some contraction, or a placement that was asked for, does.
};

}  // namespace alpa::planner
