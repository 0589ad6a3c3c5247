#include "alpa/solver/memory_rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "alpa/base/error.h"

namespace alpa::solver {
namespace {

/// How an original node follows the vertex that decides it.
struct Follow {
  int32_t root = -1;         ///< Vertex that remains; -1: its usage does not depend on what remains.
  int32_t fixed = 0;         ///< Its strategy where root is -1.
  std::vector<int32_t> map;  ///< By the root's original strategy; empty: the root itself.
};

std::vector<Follow> follow_records(const Graph& graph) {
  std::vector<Follow> follow(graph.size());
  for (int32_t v = 0; v < graph.size(); ++v) {
    if (graph.vertex(v).alive) follow[v].root = v;
  }
  const auto& records = graph.records();
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    Follow& own = follow[record->vertex];
    if (record->parents.empty()) own.fixed = record->choice[0];
    if (record->parents.size() > 1) {
      // It uses no memory that matters: any strategy that it can still take stands for it.
      own.fixed = *std::find_if(record->choice.begin(), record->choice.end(), [](int32_t s) { return s >= 0; });
    }
    if (record->parents.size() != 1) continue;
    const Follow& parent = follow[record->parents[0]];
    if (parent.root < 0) {
      own.fixed = std::max(record->choice[parent.fixed], 0);
    } else if (parent.map.empty()) {
      own = {parent.root, 0, record->choice};
    } else {
      own.root = parent.root;
      own.map.assign(parent.map.size(), -1);
      for (size_t s = 0; s < parent.map.size(); ++s) {
        if (parent.map[s] >= 0) own.map[s] = record->choice[parent.map[s]];
      }
    }
  }
  return follow;
}

struct Interval {
  int64_t begin = 0;
  int64_t end = 0;
  int32_t node = 0;  ///< Of the field.
  std::vector<int64_t> usage;
  int64_t most = 0;
};

struct Point {
  int64_t time = 0;
  int64_t base = 0;      ///< Largest base until the next point.
  int64_t possible = 0;  ///< base + the most that the intervals alive add.
  bool starts = false;   ///< An interval of variable usage starts here.
  bool ends = false;
};

/// Splits all lifetimes into constants (changes of the base) and intervals of variable usage.
class Collector {
 public:
  Collector(const Problem& problem, const Graph& graph, const Mrf& mrf) : node_of_(graph.size(), -1) {
    for (int32_t i = 0; i < mrf.size(); ++i) node_of_[mrf.vertex[i]] = i;
    const std::vector<Follow> follow = follow_records(graph);
    Cost most = 0;
    for (int32_t v = 0; v < graph.size(); ++v) {
      const Node& node = problem.nodes[v];
      most += *std::max_element(node.usages.begin(), node.usages.end());
      if (node.begin < node.end) add(node, follow[v], graph);
    }
    require<UnsupportedError>(most < (Cost(1) << 61), "solver", "usages sum to more than 2^61 bytes");
  }

  std::map<int64_t, int64_t> base_change;
  std::vector<Interval> intervals;

 private:
  void add(const Node& node, const Follow& follow, const Graph& graph) {
    int64_t least = 0;
    if (follow.root < 0) {
      least = node.usages[follow.fixed];
    } else {
      Interval interval{node.begin, node.end, node_of_[follow.root], {}, 0};
      for (int32_t label : graph.vertex(follow.root).label) {
        interval.usage.push_back(node.usages[follow.map.empty() ? label : follow.map[label]]);
      }
      least = *std::min_element(interval.usage.begin(), interval.usage.end());
      for (int64_t& usage : interval.usage) interval.most = std::max(interval.most, usage -= least);
      if (interval.most > 0) intervals.push_back(std::move(interval));
    }
    base_change[node.begin] += least;
    base_change[node.end] -= least;
  }

  std::vector<int32_t> node_of_;
};

/// The time line cut where intervals of variable usage start or end.
std::vector<Point> cut_time(const Collector& collected, int64_t& least_peak) {
  std::map<int64_t, Point> points;
  std::map<int64_t, int64_t> variable_change;
  for (const Interval& interval : collected.intervals) {
    points[interval.begin].starts = true;
    points[interval.end].ends = true;
    variable_change[interval.begin] += interval.most;
    variable_change[interval.end] -= interval.most;
  }
  int64_t base = 0;
  least_peak = 0;
  auto change = collected.base_change.begin();
  std::vector<Point> result;
  int64_t variable = 0;
  const auto take_until = [&](int64_t time, int64_t most) {
    for (; change != collected.base_change.end() && change->first < time; ++change) {
      base += change->second;
      most = std::max(most, base);
    }
    least_peak = std::max(least_peak, most);
    return most;
  };
  for (auto point = points.begin(); point != points.end(); ++point) {
    take_until(point->first, base);
    if (change != collected.base_change.end() && change->first == point->first) {
      base += change->second;
      ++change;
    }
    least_peak = std::max(least_peak, base);
    const auto next = std::next(point);
    Point cut = point->second;
    cut.time = point->first;
    cut.base = next == points.end() ? base : take_until(next->first, base);
    variable += variable_change[point->first];
    cut.possible = cut.base + variable;
    result.push_back(cut);
  }
  for (; change != collected.base_change.end(); ++change) {
    base += change->second;
    least_peak = std::max(least_peak, base);
  }
  return result;
}

/// Marks the cuts that stay as rows: they can pass the limit, and no neighbour implies them.
std::vector<char> choose_rows(const std::vector<Point>& points, int64_t limit) {
  std::vector<char> keep(points.size(), 1);
  for (size_t k = 0; k < points.size(); ++k) keep[k] = points[k].possible > limit;
  // Where intervals only start at a cut its set contains the one before; where they only end the other way round.
  for (size_t k = 0; k + 1 < points.size(); ++k) {
    if (!points[k + 1].ends && points[k].base <= points[k + 1].base && keep[k + 1]) keep[k] = 0;
  }
  for (size_t k = points.size(); k-- > 1;) {
    if (!points[k].starts && points[k].base <= points[k - 1].base && points[k - 1].possible > limit) {
      // The one before holds all of this one's intervals; it is kept or implied by a third.
      keep[k] = 0;
    }
  }
  return keep;
}

}  // namespace

MemoryRows memory_rows(const Problem& problem, const Graph& graph, const Mrf& mrf, int64_t limit) {
  const Collector collected(problem, graph, mrf);
  MemoryRows rows;
  rows.spans.resize(mrf.size());
  const std::vector<Point> points = cut_time(collected, rows.least_peak);
  const std::vector<char> keep = choose_rows(points, limit);
  std::vector<int32_t> rows_before(points.size() + 1, 0);
  for (size_t k = 0; k < points.size(); ++k) {
    rows_before[k + 1] = rows_before[k] + keep[k];
    if (!keep[k]) continue;
    rows.time.push_back(points[k].time);
    rows.base.push_back(points[k].base);
  }
  const auto row_at = [&](int64_t time) {
    const auto found = std::lower_bound(points.begin(), points.end(), time,
                                        [](const Point& point, int64_t t) { return point.time < t; });
    return rows_before[found - points.begin()];
  };
  for (const Interval& interval : collected.intervals) {
    MemoryRows::Span span{row_at(interval.begin), row_at(interval.end), interval.usage};
    if (span.first == span.last) continue;
    auto& spans = rows.spans[interval.node];
    const auto same = std::find_if(spans.begin(), spans.end(), [&](const auto& other) {
      return other.first == span.first && other.last == span.last;
    });
    if (same == spans.end()) {
      spans.push_back(std::move(span));
    } else {
      for (size_t s = 0; s < span.usage.size(); ++s) same->usage[s] += span.usage[s];
    }
  }
  return rows;
}

std::vector<int64_t> usage_of(const MemoryRows& rows, const std::vector<int32_t>& labels) {
  std::vector<int64_t> change(rows.size() + 1, 0);
  for (size_t i = 0; i < labels.size(); ++i) {
    for (const MemoryRows::Span& span : rows.spans[i]) {
      change[span.first] += span.usage[labels[i]];
      change[span.last] -= span.usage[labels[i]];
    }
  }
  std::vector<int64_t> usage(rows.base);
  int64_t sum = 0;
  for (int32_t r = 0; r < rows.size(); ++r) usage[r] += sum += change[r];
  return usage;
}

void move_usage(const MemoryRows& rows, int32_t node, int32_t from, int32_t to, std::vector<int64_t>& usage) {
  if (from == to) return;
  for (const MemoryRows::Span& span : rows.spans[node]) {
    const int64_t change = span.usage[to] - span.usage[from];
    if (change == 0) continue;
    for (int32_t r = span.first; r < span.last; ++r) usage[r] += change;
  }
}

int64_t peak_of(const MemoryRows& rows, const std::vector<int64_t>& usage) {
  int64_t peak = rows.least_peak;
  for (int64_t bytes : usage) peak = std::max(peak, bytes);
  return peak;
}

UsageRow usage_row(const MemoryRows& rows, int32_t row, int64_t limit) {
  UsageRow result;
  result.limit = limit - rows.base[row];
  for (size_t i = 0; i < rows.spans.size(); ++i) {
    UsageRow::Term term;
    for (const MemoryRows::Span& span : rows.spans[i]) {
      if (row < span.first || row >= span.last) continue;
      if (term.usage.empty()) term = {static_cast<int32_t>(i), std::vector<int64_t>(span.usage.size(), 0)};
      for (size_t s = 0; s < span.usage.size(); ++s) term.usage[s] += span.usage[s];
    }
    if (!term.usage.empty()) result.terms.push_back(std::move(term));
  }
  return result;
}

std::vector<int32_t> peak_rows(const std::vector<int64_t>& usage, int64_t limit) {
  std::vector<int32_t> result;
  bool inside = false;
  for (size_t r = 0; r < usage.size(); ++r) {
    if (usage[r] <= limit) {
      inside = false;
    } else if (!inside) {
      inside = true;
      result.push_back(static_cast<int32_t>(r));
    } else if (usage[r] > usage[result.back()]) {
      result.back() = static_cast<int32_t>(r);
    }
  }
  return result;
}

}  // namespace alpa::solver
