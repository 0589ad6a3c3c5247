#include "alpa/solver/priced_exact.h"

#include <algorithm>
#include <cmath>

#include "alpa/solver/component_solver.h"
#include "alpa/solver/presolve.h"
#include "alpa/solver/prices.h"

namespace alpa::solver {
namespace {

constexpr double kFirstStep = 0.01;  // Of the scale, while all labellings lie on one side of the limit; doubles.
constexpr double kEnough = 1e-6;     // Of the bound: a smaller promise is not followed.

/// What a labelling promises at other scales than its own.
struct Line {
  double scale = 0;
  double value = 0;
  double slope = 0;

  double at(double where) const { return value + slope * (where - scale); }
};

Cost largest_finite(const std::vector<int64_t>& costs) {
  int64_t largest = 0;
  for (const int64_t cost : costs) {
    if (!is_infinite(cost)) largest = std::max(largest, cost);
  }
  return largest;
}

double meeting(const Line& a, const Line& b) {
  return (b.value - a.value + a.slope * a.scale - b.slope * b.scale) / (a.slope - b.slope);
}

}  // namespace

PricedExact::PricedExact(const Mrf& mrf, const MemoryRows& rows, int64_t limit, const EliminationBudget& budget,
                         int threads)
    : mrf_(mrf), rows_(rows), graph_(mrf.unary), limit_(limit), budget_(budget), threads_(threads) {
  for (const Mrf::Edge& edge : mrf.edges) {
    graph_.add_link(edge.a, edge.b, edge.table);
    largest_edges_ += largest_finite(edge.table->costs);
  }
}

std::optional<PricedExact::Minimum> PricedExact::minimise(const std::vector<std::vector<int64_t>>& unaries) const {
  Cost largest = largest_edges_;
  for (const std::vector<int64_t>& unary : unaries) largest += largest_finite(unary);
  if (largest >= kInfinite / 8) return std::nullopt;
  Graph priced = graph_;
  for (int32_t i = 0; i < mrf_.size(); ++i) priced.vertex(i).cost = unaries[i];
  presolve(priced);
  if (priced.infeasible()) return std::nullopt;
  solve_components(priced, snapshot(priced), budget_, threads_);
  presolve(priced);
  if (priced.infeasible()) return std::nullopt;
  const Mrf rest = snapshot(priced);
  if (rest.size() > 0) return std::nullopt;
  return Minimum{mrf_.constant + rest.constant, expand(priced, rest, {})};
}

std::optional<PricedOptimum> PricedExact::at(const std::vector<double>& price) const {
  Prices prices(mrf_, rows_, limit_);
  prices.set(price, 0);
  std::optional<Minimum> minimum = minimise(prices.unaries());
  if (!minimum) return std::nullopt;
  return PricedOptimum{minimum->cost - prices.rebate(), std::move(minimum->labels)};
}

std::optional<std::vector<int32_t>> PricedExact::at(const std::vector<double>& price,
                                                    const std::vector<double>& bias) const {
  Prices prices(mrf_, rows_, limit_);
  prices.set(price, 0);
  std::vector<std::vector<int64_t>> unaries = prices.unaries();
  for (int32_t i = 0; i < mrf_.size(); ++i) {
    for (size_t s = 0; s < unaries[i].size(); ++s) {
      const int64_t cost = mrf_.unary[i][s];
      if (!is_infinite(cost)) unaries[i][s] = cost + static_cast<int64_t>(bias[i] * double(unaries[i][s] - cost));
    }
  }
  std::optional<Minimum> minimum = minimise(unaries);
  if (!minimum) return std::nullopt;
  return std::move(minimum->labels);
}

std::optional<PricedExact::Scale> PricedExact::best_scale(const std::vector<double>& price, int most) const {
  std::optional<Line> rising;
  std::optional<Line> falling;
  std::optional<Scale> best;
  double scale = 1;
  double step = kFirstStep;
  for (int k = 0; k < most; ++k) {
    const std::optional<PricedOptimum> found = at(scaled(price, scale));
    if (!found) break;
    Line line{scale, double(found->bound), 0};
    const std::vector<int64_t> usage = usage_of(rows_, found->labels);
    for (int32_t r = 0; r < rows_.size(); ++r) line.slope += price[r] * (double(usage[r]) - double(limit_));
    if (!best || line.value > best->bound) best = {scale, line.value};
    if (line.slope == 0) break;
    (line.slope > 0 ? rising : falling) = line;
    if (!rising || !falling) {
      scale *= rising ? 1 + step : 1 / (1 + step);
      step *= 2;
      continue;
    }
    scale = meeting(*rising, *falling);
    if (rising->at(scale) - best->bound < kEnough * std::abs(best->bound)) break;
  }
  return best;
}

}  // namespace alpa::solver
