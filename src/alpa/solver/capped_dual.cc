#include "alpa/solver/capped_dual.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace alpa::solver {
namespace {

constexpr double kClip = 0.3;    // Of the limit: the largest excess that counts.
constexpr int kPatience = 20;    // Steps without enough gain before the level comes nearer.
constexpr double kEnough = 0.1;  // Gain that is enough, as a share of the level's distance.

/// Message passing sweeps a step, and momentum; no single setting works everywhere, so they take turns.
struct Setting {
  int sweeps;
  double momentum;
};
constexpr Setting kSettings[] = {{5, 0}, {2, 0.6}, {5, 0.5}, {10, 0}, {3, 0.8}};

}  // namespace

CappedDual::CappedDual(const Mrf& mrf, const MemoryRows& rows, int64_t limit)
    : mrf_(mrf),
      rows_(rows),
      limit_(limit),
      dual_(mrf),
      fixed_prices_(mrf, rows, limit),
      price_(rows.size(), 0),
      best_price_(price_),
      direction_(rows.size(), 0),
      forced_(mrf.size()) {
  for (int32_t i = 0; i < mrf.size(); ++i) forced_[i].assign(mrf.domain(i), -(Cost(1) << 120));
}

Cost CappedDual::bound() const { return mrf_.constant - ((-best_) >> scale_bits()); }

double CappedDual::evaluate_prices(int sweeps) {
  fixed_prices_.set(price_, scale_bits());
  dual_.set_unaries(fixed_prices_.unaries());
  const Cost rebate = fixed_prices_.rebate();
  Cost value = 0;
  for (int k = 0; k < sweeps; ++k) value = dual_.sweep() - rebate;
  for (int32_t i = 0; i < mrf_.size(); ++i) {
    for (size_t s = 0; s < forced_[i].size(); ++s) {
      forced_[i][s] = std::max(forced_[i][s], dual_.forced()[i][s] - rebate);
    }
  }
  usage_ = usage_of(rows_, dual_.decoded());
  if (!known_ || value > best_) {
    known_ = true;
    best_ = value;
    best_price_ = price_;
    best_potentials_ = dual_.potentials();
    best_labels_ = dual_.decoded();
  }
  return std::ldexp(double(value), -scale_bits());
}

MrfCost CappedDual::priced_cost(const std::vector<int32_t>& labels) const {
  MrfCost cost = cost_of(mrf_, labels);
  double paid = 0;
  for (int32_t r = 0; r < rows_.size(); ++r) paid += price_[r] * double(usage_[r]);
  cost.cost += Cost(paid);
  return cost;
}

void CappedDual::polish(int sweeps) {
  price_ = best_price_;
  if (!best_potentials_.empty()) dual_.set_potentials(best_potentials_);
  std::vector<int32_t> labels;
  MrfCost least;
  for (int k = 0; k < sweeps; k += 5) {
    evaluate_prices(5);
    const MrfCost cost = priced_cost(dual_.decoded());
    const bool better = std::tie(cost.forbidden, cost.cost) < std::tie(least.forbidden, least.cost);
    if (!labels.empty() && !better) continue;
    least = cost;
    labels = dual_.decoded();
  }
  if (!labels.empty()) best_labels_ = std::move(labels);
}

std::vector<int32_t> CappedDual::labels_at(double scale, int sweeps) {
  price_ = scaled(best_price_, scale);
  dual_.set_potentials(best_potentials_);
  evaluate_prices(sweeps);
  std::vector<int32_t> labels = dual_.decoded();
  price_ = best_price_;
  dual_.set_potentials(best_potentials_);
  return labels;
}

void CappedDual::step(double target, double value, double momentum) {
  std::vector<double> gradient(price_.size(), 0);
  const double most = kClip * double(std::max<int64_t>(limit_, 1));
  const auto excess = [&](int32_t r) { return std::clamp(double(usage_[r]) - double(limit_), -most, most); };
  for (int32_t r : peak_rows(usage_, limit_)) gradient[r] = excess(r);
  for (int32_t r = 0; r < rows_.size(); ++r) {
    if (price_[r] > 0) gradient[r] = excess(r);
  }
  double norm = 0;
  for (int32_t r = 0; r < rows_.size(); ++r) {
    direction_[r] = momentum * direction_[r] + gradient[r];
    if (price_[r] == 0 && direction_[r] < 0) direction_[r] = 0;
    norm += direction_[r] * direction_[r];
  }
  if (norm == 0) return;
  const double length = std::max(target - value, 0.0) * (1 - momentum) / norm;
  for (int32_t r = 0; r < rows_.size(); ++r) price_[r] = std::max(0.0, price_[r] + length * direction_[r]);
}

void CappedDual::climb(int64_t steps, double span,
                       const std::function<bool(const std::vector<int32_t>&, const std::vector<int64_t>&)>& meet) {
  double level = 0.3 * span;
  double reference = -std::numeric_limits<double>::infinity();
  int waited = 0;
  size_t setting = 0;
  int restarts = 0;
  for (int64_t k = 0; k < steps; ++k) {
    const double value = evaluate_prices(k == 0 ? 20 : kSettings[setting].sweeps);
    if (!meet(dual_.decoded(), usage_)) return;
    const double best = std::ldexp(double(best_), -scale_bits());
    if (best >= reference + kEnough * level) {
      reference = best;
      waited = 0;
    } else if (++waited >= kPatience) {
      waited = 0;
      level /= 2;
      price_ = best_price_;
      dual_.set_potentials(best_potentials_);
      std::fill(direction_.begin(), direction_.end(), 0.0);
      if (level < 2e-4 * span) {
        setting = (setting + 1) % std::size(kSettings);
        ++restarts;
        level = (restarts % 2 == 1 ? 0.1 : 0.2) * span / (1 + restarts);
      }
      continue;
    }
    step(best + level, value, kSettings[setting].momentum);
  }
}

}  // namespace alpa::solver
