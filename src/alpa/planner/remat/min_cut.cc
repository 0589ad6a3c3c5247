#include "alpa/planner/remat/min_cut.h"

#include <algorithm>

namespace alpa::planner {

void MinCut::add_edge(int32_t from, int32_t to, int64_t capacity) {
  edges_of_[static_cast<size_t>(from)].push_back(static_cast<int32_t>(edges_.size()));
  edges_.push_back({to, capacity});
  edges_of_[static_cast<size_t>(to)].push_back(static_cast<int32_t>(edges_.size()));
  edges_.push_back({from, 0});
}

bool MinCut::find_layers(int32_t source, int32_t sink) {
  layer_.assign(edges_of_.size(), -1);
  layer_[static_cast<size_t>(source)] = 0;
  std::vector<int32_t> open = {source};
  for (size_t at = 0; at < open.size(); ++at) {
    for (const int32_t edge : edges_of_[static_cast<size_t>(open[at])]) {
      const auto [to, left] = edges_[static_cast<size_t>(edge)];
      if (left == 0 || layer_[static_cast<size_t>(to)] >= 0) continue;
      layer_[static_cast<size_t>(to)] = layer_[static_cast<size_t>(open[at])] + 1;
      open.push_back(to);
    }
  }
  return layer_[static_cast<size_t>(sink)] >= 0;
}

// One way along the layers; 0 if none is left. A loop, not a recursion: a program is longer than a stack is deep.
int64_t MinCut::push(int32_t source, int32_t sink) {
  std::vector<int32_t> way;
  int32_t at = source;
  while (at != sink) {
    size_t& next = next_[static_cast<size_t>(at)];
    const std::vector<int32_t>& edges = edges_of_[static_cast<size_t>(at)];
    const auto goes_on = [&](int32_t edge) {
      const Edge& one = edges_[static_cast<size_t>(edge)];
      return one.left > 0 && layer_[static_cast<size_t>(one.to)] == layer_[static_cast<size_t>(at)] + 1;
    };
    while (next < edges.size() && !goes_on(edges[next])) ++next;
    if (next < edges.size()) {
      way.push_back(edges[next]);
      at = edges_[static_cast<size_t>(edges[next])].to;
      continue;
    }
    if (way.empty()) return 0;
    at = edges_[static_cast<size_t>(way.back() ^ 1)].to;
    ++next_[static_cast<size_t>(at)];
    way.pop_back();
  }
  int64_t amount = kUncuttable;
  for (const int32_t edge : way) amount = std::min(amount, edges_[static_cast<size_t>(edge)].left);
  for (const int32_t edge : way) {
    edges_[static_cast<size_t>(edge)].left -= amount;
    edges_[static_cast<size_t>(edge ^ 1)].left += amount;
  }
  return amount;
}

std::vector<bool> MinCut::source_side(int32_t source, int32_t sink) {
  while (find_layers(source, sink)) {
    next_.assign(edges_of_.size(), 0);
    while (push(source, sink) > 0) {
    }
  }
  std::vector<bool> side;
  for (const int32_t layer : layer_) side.push_back(layer >= 0);
  return side;
}

}  // namespace alpa::planner
