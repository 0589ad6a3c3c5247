#include "alpa/solver/prices.h"

#include <algorithm>
#include <cmath>

namespace alpa::solver {
namespace {

constexpr int kMostFraction = 40;
constexpr double kMostBits = 120;
constexpr Cost kLargestUnary = Cost(1) << 57;

}  // namespace

std::vector<double> scaled(std::vector<double> price, double factor) {
  for (double& p : price) p *= factor;
  return price;
}

Prices::Prices(const Mrf& mrf, const MemoryRows& rows, int64_t limit)
    : mrf_(mrf), rows_(rows), limit_(limit), fixed_(rows.size(), 0), prefix_(rows.size() + 1, 0) {
  most_bytes_ = std::max<int64_t>(limit_, 1);
  for (const auto& spans : rows_.spans) {
    for (const MemoryRows::Span& span : spans)
      most_bytes_ = std::max(most_bytes_, *std::max_element(span.usage.begin(), span.usage.end()));
  }
}

void Prices::set(const std::vector<double>& price, int bits) {
  bits_ = bits;
  double sum = 1;
  for (double p : price) sum += p;
  const double used = std::log2(sum) + std::log2(double(most_bytes_)) + bits;
  fraction_ = static_cast<int>(std::clamp(kMostBits - used, 0.0, double(kMostFraction)));
  for (int32_t r = 0; r < rows_.size(); ++r) {
    fixed_[r] = Cost(std::ldexp(price[r], bits + fraction_));
    prefix_[r + 1] = prefix_[r] + fixed_[r];
  }
}

void Prices::unary(int32_t node, std::vector<int64_t>& out) const {
  const std::vector<int64_t>& cost = mrf_.unary[node];
  out.resize(cost.size());
  std::vector<Cost> paid(cost.size(), 0);
  for (const MemoryRows::Span& span : rows_.spans[node]) {
    const Cost price = prefix_[span.last] - prefix_[span.first];
    if (price == 0) continue;  // Most rows are free.
    for (size_t s = 0; s < cost.size(); ++s) paid[s] += price * span.usage[s];
  }
  for (size_t s = 0; s < cost.size(); ++s) {
    const Cost sum = Cost(cost[s]) * (Cost(1) << bits_) + (paid[s] >> fraction_);
    out[s] = static_cast<int64_t>(std::min(sum, kLargestUnary));
  }
}

std::vector<std::vector<int64_t>> Prices::unaries() const {
  std::vector<std::vector<int64_t>> result(mrf_.size());
  for (int32_t i = 0; i < mrf_.size(); ++i) unary(i, result[i]);
  return result;
}

Cost Prices::rebate() const {
  Cost sum = 0;
  for (int32_t r = 0; r < rows_.size(); ++r) sum += fixed_[r] * (limit_ - rows_.base[r]);
  return -((-sum) >> fraction_);
}

}  // namespace alpa::solver
