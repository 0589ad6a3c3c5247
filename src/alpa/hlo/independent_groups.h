#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "alpa/hlo/opcode.h"

namespace alpa::hlo {

/// Bytes of one combined collective, at most: beyond, one more costs next to nothing, while all that is combined must
/// be there at once.
inline constexpr int64_t kCombinedBytes = int64_t{32} << 20;

/// What a collective counts against that limit. An all-gather counts 32 times: it makes more than it is given, which
/// then all lies there before it is used; twice that if what it made must be `rearranged`, since its dim is not the
/// outermost.
inline int64_t combined_weight(Opcode opcode, int64_t bytes, bool rearranged) {
  return opcode == Opcode::kAllGather ? bytes * (rearranged ? 64 : 32) : bytes;
}

/// Something that may be done together with others: those of the same key, as long as none waits for another.
struct Candidate {
  int64_t node = 0;  ///< In the graph.
  std::string key;
  int64_t weight = 0;
};

/// Candidates that are done together, by index, in their order: each joins the first group of its key that it fits
/// into, so that no group weighs more than `limit` (one candidate alone may) and the graph with each group made one
/// node has no cycle. `operands[node]`: the nodes before it that it needs; `candidates` are in order of their nodes.
/// Cost: O(nodes + candidates²) words of candidates / 64 bits.
std::vector<std::vector<int64_t>> independent_groups(const std::vector<std::vector<int32_t>>& operands,
                                                     const std::vector<Candidate>& candidates, int64_t limit);

}  // namespace alpa::hlo
