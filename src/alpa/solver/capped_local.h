#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "alpa/solver/block_search.h"
#include "alpa/solver/memory_rows.h"
#include "alpa/solver/prices.h"

namespace alpa::solver {

/// Block search under a usage limit: blocks pay prices for memory, so that each is solved without knowing the limit.
class CappedLocal {
 public:
  CappedLocal(const Mrf& mrf, const MemoryRows& rows, int64_t limit, uint64_t seed);

  /// Guide of BlockSearch, and prices to start from.
  void set_guide(const std::vector<std::vector<int64_t>>* reduced, const std::vector<double>& price);

  /// Asked now and then. True: stop.
  void set_stop(std::function<bool()> stop) { stop_ = std::move(stop); }

  /// Hears of each labelling that is allowed, fits and costs less than those before.
  using Listener = std::function<void(const std::vector<int32_t>&, Cost)>;
  void set_listener(Listener listener) { listener_ = std::move(listener); }

  void start(const std::vector<int32_t>& labels);

  /// Minimises the priced cost block by block, prices following what is violated and what is slack.
  void descend(int64_t rounds, int64_t blocks_a_round);

  /// From the best labelling that fits: blocks are solved with perturbed prices until they fit, and kept where they do
  /// not cost more. Nothing where none is known.
  void improve(int64_t blocks);

  bool known() const { return known_; }
  const std::vector<int32_t>& best() const { return best_; }

 private:
  void apply(const BlockSearch::Block& block);
  void consider();
  bool stopped() const { return stop_ && stop_(); }
  void adapt(double rate);
  bool try_block(Cost allowance);
  Cost change_of(const BlockSearch::Block& block);

  const Mrf& mrf_;
  const MemoryRows& rows_;
  int64_t limit_;
  BlockSearch search_;
  Prices prices_;
  std::vector<double> price_;
  std::vector<std::vector<int64_t>> unaries_;
  std::vector<int32_t> labels_;
  std::vector<int64_t> usage_;
  std::vector<int32_t> best_;
  std::vector<char> in_block_;
  Cost best_cost_ = 0;
  bool known_ = false;
  std::function<bool()> stop_;
  Listener listener_;
};

}  // namespace alpa::solver
