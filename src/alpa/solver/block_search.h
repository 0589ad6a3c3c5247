#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "alpa/solver/elimination.h"
#include "alpa/solver/mrf.h"

namespace alpa::solver {

/// Large-neighbourhood search: solves connected regions exactly while the rest stays as it is.
class BlockSearch {
 public:
  struct Block {
    std::vector<int32_t> nodes;
    std::vector<int32_t> labels;
  };

  BlockSearch(const Mrf& mrf, uint64_t seed);

  /// Guides the choice of strategies a block may take; an empty guide allows all.
  void set_guide(const std::vector<std::vector<int64_t>>* reduced) { reduced_ = reduced; }

  /// A random connected region of at most `most` nodes.
  std::vector<int32_t> random_region(int32_t most);

  /// A connected region around a node.
  std::vector<int32_t> region_around(int32_t root, int32_t most);

  /// The best labels of a region under `unaries`, `labels` outside it; regions too wide lose nodes. Entries that are
  /// forbidden between the region and the rest cost a penalty, so that a forbidden state can be repaired.
  /// `strategies`: how many each node may take at most, 0 for all.
  Block solve(std::vector<int32_t> region, const std::vector<int32_t>& labels,
              const std::vector<std::vector<int64_t>>& unaries, int32_t strategies, const EliminationBudget& budget);

  uint64_t draw(uint64_t bound) { return random_() % bound; }

 private:
  PairwiseProblem local_problem(const std::vector<int32_t>& region, const std::vector<int32_t>& labels,
                                const std::vector<std::vector<int64_t>>& unaries);
  std::vector<int32_t> allowed_strategies(int32_t node, int32_t label, int32_t most);

  const Mrf& mrf_;
  std::mt19937_64 random_;
  const std::vector<std::vector<int64_t>>* reduced_ = nullptr;
  std::vector<int32_t> index_in_block_;        ///< -1 outside.
  std::vector<std::vector<int32_t>> allowed_;  ///< Of the block's nodes, by their index in it.
};

/// Improves `labels` in place by `blocks` random blocks, accepting what does not cost more. Returns its cost.
MrfCost improve_by_blocks(const Mrf& mrf, BlockSearch& search, std::vector<int32_t>& labels, int64_t blocks);

}  // namespace alpa::solver
