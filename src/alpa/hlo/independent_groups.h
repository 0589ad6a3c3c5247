#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace alpa::hlo {

/// Bytes of one combined collective, at most: beyond, one more costs next to nothing, while all that is combined must
/// be there at once.
inline constexpr int64_t kCombinedBytes = int64_t{32} << 20;

/// Something that may be done together with others: those of the same key, as long as none waits for another.
struct Candidate {
  int64_t node = 0;  ///< In the graph.
  std::string key;
  int64_t bytes = 0;
};

/// Candidates that are done together, by index, in their order: each joins the first group of its key that it fits
/// into, so that no group passes `limit_bytes` (one candidate alone may) and the graph with each group made one node
/// has no cycle.
/// `operands[node]`: the nodes before it that it needs; `candidates` are in order of their nodes.
/// Cost: O(nodes + candidates²) words of candidates / 64 bits.
std::vector<std::vector<int64_t>> independent_groups(const std::vector<std::vector<int32_t>>& operands,
                                                     const std::vector<Candidate>& candidates, int64_t limit_bytes);

}  // namespace alpa::hlo
