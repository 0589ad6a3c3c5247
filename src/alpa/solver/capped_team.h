#pragma once

#include <functional>
#include <vector>

#include "alpa/solver/capped_local.h"

namespace alpa::solver {

/// Local searches of one field side by side, each with draws of its own.
class CappedTeam {
 public:
  /// A labelling that is allowed, fits and costs less than those that its searcher met before.
  struct Find {
    double seconds = 0;
    Cost cost = 0;
    std::vector<int32_t> labels;
  };
  /// How long a member searches: rounds of priced descent of so many blocks each, then blocks of improvement.
  struct Effort {
    int64_t descents = 0;
    int64_t blocks_a_descent = 0;
    int64_t blocks = 0;
  };

  /// `stop` is asked now and then, `clock` tells when something was found; members call both from their threads.
  CappedTeam(const Mrf& mrf, const MemoryRows& rows, int64_t limit, uint64_t seed, size_t members,
             const std::function<bool()>& stop, std::function<double()> clock);

  size_t size() const { return members_.size(); }

  /// Guide of BlockSearch and prices, for all; copied.
  void set_guide(const std::vector<std::vector<int64_t>>& reduced, const std::vector<double>& price);

  /// Goes on from where the member stands, or from `start` where it has met nothing that fits. Members may search at
  /// the same time.
  void search(size_t member, const std::vector<int32_t>& start, const Effort& effort);

  /// What was found since the last call, member by member.
  std::vector<Find> take_finds();

 private:
  std::vector<CappedLocal> members_;
  std::vector<std::vector<Find>> finds_;
  std::vector<std::vector<int64_t>> reduced_;
  std::vector<double> price_;
};

}  // namespace alpa::solver
