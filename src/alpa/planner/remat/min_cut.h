#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace alpa::planner {

/// Least cuts of a directed graph between a source and a sink, by maximum flow.
/// Source: Dinic 1970 (layers of shortest ways, a blocking flow in each).
class MinCut {
 public:
  static constexpr int64_t kUncuttable = std::numeric_limits<int64_t>::max() / 4;

  explicit MinCut(int32_t num_nodes) : edges_of_(static_cast<size_t>(num_nodes)) {}

  /// Cutting it, with `from` on the source's side and `to` on the sink's, costs `capacity`, at least 0.
  void add_edge(int32_t from, int32_t to, int64_t capacity);

  /// By node: whether it is on the source's side of the cut of least cost that has fewest nodes there. Once an object.
  std::vector<bool> source_side(int32_t source, int32_t sink);

 private:
  struct Edge {
    int32_t to;
    int64_t left;  ///< Capacity.
  };

  bool find_layers(int32_t source, int32_t sink);
  int64_t push(int32_t source, int32_t sink);

  std::vector<Edge> edges_;  ///< Each followed by its reverse.
  std::vector<std::vector<int32_t>> edges_of_;
  std::vector<int32_t> layer_;
  std::vector<size_t> next_;  ///< By node: the edge to try.
};

}  // namespace alpa::planner
