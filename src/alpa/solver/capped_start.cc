#include "alpa/solver/capped_start.h"

#include <algorithm>
#include <cmath>

#include "alpa/solver/dual_bound.h"
#include "alpa/solver/prices.h"

namespace alpa::solver {
namespace {

constexpr int kRises = 14;  // Each by the factor kRise.
constexpr double kRise = 16;
constexpr int kHalvings = 5;  // Of the last rise, on a logarithmic scale.
constexpr int kSweeps = 3;

/// Where all rows together cost about what the nodes do.
double first_price(const Mrf& mrf, const MemoryRows& rows, int64_t limit) {
  double cost = 1;
  for (const auto& unary : mrf.unary) {
    const int64_t most = *std::max_element(unary.begin(), unary.end());
    if (!is_infinite(most)) cost += double(most);
  }
  return cost / double(std::max<int64_t>(limit, 1)) / std::max(1, rows.size()) / 1e4;
}

}  // namespace

void quick_starts(const Mrf& mrf, const MemoryRows& rows, int64_t limit,
                  const std::function<void(const std::vector<int32_t>&)>& meet) {
  DualBound dual(mrf);
  Prices prices(mrf, rows, limit);
  const auto fits = [&](double price) {
    prices.set(std::vector<double>(rows.size(), price), dual.scale_bits());
    dual.set_unaries(prices.unaries());
    for (int k = 0; k < kSweeps; ++k) dual.sweep();
    const std::vector<int32_t>& labels = dual.decoded();
    if (peak_of(rows, usage_of(rows, labels)) > limit || cost_of(mrf, labels).forbidden > 0) return false;
    meet(labels);
    return true;
  };
  double high = first_price(mrf, rows, limit);
  int rises = 0;
  while (!fits(high) && ++rises < kRises) high *= kRise;
  if (rises == kRises) return;
  double low = high / kRise;
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = std::sqrt(low * high);
    (fits(middle) ? high : low) = middle;
  }
}

}  // namespace alpa::solver
