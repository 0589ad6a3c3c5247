#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace alpa::solver {

/// At and above this a cost is "forbidden". Sums of finite costs may pass it: they are kept in 128 bits.
inline constexpr int64_t kForbidden = 1'000'000'000'000'000'000;

/// A cost table of edges, row-major: row = strategy of the edge's first node. Shared by as many edges as are alike.
struct CostTable {
  int32_t rows = 0;
  int32_t cols = 0;
  std::vector<int64_t> costs;
};

/// One strategy is chosen for each node; it is alive in the half-open interval of time steps [begin, end).
struct Node {
  int64_t begin = 0;
  int64_t end = 0;
  std::vector<int64_t> costs;   ///< One a strategy, >= 0.
  std::vector<int64_t> usages;  ///< One a strategy, >= 0: bytes on one device while alive.
};

struct Edge {
  int32_t first = 0;
  int32_t second = 0;
  int32_t table = 0;  ///< Index into Problem::tables; rows = strategies of `first`, cols = strategies of `second`.
};

/// The public IOPDDL form: choose one strategy a node, minimise the sum of node and edge costs; at every time step the
/// summed usage of the nodes alive must not pass `usage_limit`.
struct Problem {
  std::string name;
  std::vector<Node> nodes;
  std::vector<CostTable> tables;
  std::vector<Edge> edges;
  std::optional<int64_t> usage_limit;
};

/// Errors: InvalidArgumentError that names the first node, edge or table that is inconsistent (wrong sizes, ids out of
/// range, negative values, begin > end).
void check(const Problem& problem);

}  // namespace alpa::solver
