#pragma once

#include <cstdint>
#include <vector>

#include "alpa/solver/graph.h"
#include "alpa/solver/highs/mip.h"
#include "alpa/solver/mrf.h"

namespace alpa::solver {

/// Where the nodes of a field use memory, over the few time steps at which the limit can be passed.
///
/// A row is such a time step. `base` is what is in use there whatever is chosen; a node adds its spans' usage, each
/// counted from its own minimum. Nodes folded into another are spans of that one.
struct MemoryRows {
  struct Span {
    int32_t first = 0;  ///< Rows [first, last).
    int32_t last = 0;
    std::vector<int64_t> usage;  ///< One a strategy of the node, in bytes; the smallest is 0.
  };
  std::vector<int64_t> time;
  std::vector<int64_t> base;             ///< Bytes.
  std::vector<std::vector<Span>> spans;  ///< One list a node of the field.
  int64_t least_peak = 0;                ///< The largest base at any time, kept as a row or not: no choice uses less.

  int32_t size() const { return static_cast<int32_t>(base.size()); }
};

/// Rows whose usage can pass `limit`; of neighbouring rows only those that are not implied by another.
/// Errors: UnsupportedError where usages sum to 2^61 bytes or more.
MemoryRows memory_rows(const Problem& problem, const Graph& graph, const Mrf& mrf, int64_t limit);

/// Bytes in use at each row for a labelling.
std::vector<int64_t> usage_of(const MemoryRows& rows, const std::vector<int32_t>& labels);

/// Changes `usage` by node's move from one label to another.
void move_usage(const MemoryRows& rows, int32_t node, int32_t from, int32_t to, std::vector<int64_t>& usage);

int64_t peak_of(const MemoryRows& rows, const std::vector<int64_t>& usage);

/// Row `row` as a row of a MIP: its nodes' usage at most limit - base.
UsageRow usage_row(const MemoryRows& rows, int32_t row, int64_t limit);

/// In each run of neighbouring rows above `limit` the first that is worst.
std::vector<int32_t> peak_rows(const std::vector<int64_t>& usage, int64_t limit);

}  // namespace alpa::solver
