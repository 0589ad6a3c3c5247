#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "alpa/solver/branch.h"

namespace alpa::solver {

/// Search that decides hubs, the nodes with most neighbours, one after the other. Bounds by message passing lose most
/// around hubs; where these are decided the field falls apart and the bounds come near to the truth.
///
/// It goes level by level and compares only what one level gave, so that the answers do not depend on how many threads
/// share the work. Costs are scaled as the dual's, without the field's constant.
class HubSearch {
 public:
  /// Whether this works for a field: messages across forbidden entries may be no numbers once strategies are ruled out.
  static bool suits(const Mrf& mrf);

  /// `threads`: most that may be used, 0: all cores; the answers do not depend on it. `stop` is asked now and then,
  /// from those threads. True: what was begun is left.
  explicit HubSearch(Branch whole, int threads = 0, std::function<bool()> stop = {})
      : threads_(threads), stop_(std::move(stop)) {
    open_.push_back(std::move(whole));
  }

  /// A lower bound, at most `limit`: parts whose bound reaches the limit are closed and the others parted on, while
  /// `work` (elementary operations) suffices. Goes on from where the last call stopped: what was closed then was so
  /// below the limit of that call, so later limits that are higher count as that one.
  Cost raise_bound(Cost limit, int64_t work);

  /// The best labelling below the limit that raise_bound decided to its end; empty: none.
  const std::vector<int32_t>& decided() const { return decided_; }

  /// Looks for a good labelling below `limit`: on each level keeps the few parts that look best. `hear` gets the
  /// labellings met on the way, and says below what cost others are still worth a look.
  using LabelListener = std::function<Cost(const std::vector<int32_t>&)>;
  void dive(Cost limit, const LabelListener& hear) const;

 private:
  void settle();
  bool stopped() const { return stop_ && stop_(); }

  int threads_;
  std::function<bool()> stop_;
  Cost limit_ = Cost(1) << 120;   ///< Every labelling that is not in `open_` costs this or more.
  std::vector<int32_t> decided_;  ///< Costs `limit_` where no lower limit was asked for since.
  std::vector<Branch> open_;      ///< Every labelling below the limit is in one of these.
};

}  // namespace alpa::solver
