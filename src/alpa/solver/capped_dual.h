#pragma once

#include <functional>
#include <vector>

#include "alpa/solver/dual_bound.h"
#include "alpa/solver/memory_rows.h"
#include "alpa/solver/mrf.h"
#include "alpa/solver/prices.h"

namespace alpa::solver {

/// The Lagrangian bound of a field with a usage limit:
/// L(price) = min over labellings of [cost + sum_r price_r (usage_r - limit)], price >= 0, with the inner minimum
/// bounded by message passing. Prices climb by a level rule; only the worst row of each run of violated rows is priced,
/// or the price smears over hundreds of rows and stalls.
class CappedDual {
 public:
  CappedDual(const Mrf& mrf, const MemoryRows& rows, int64_t limit);

  /// Prices to start from, one a row.
  void set_prices(const std::vector<double>& price) { price_ = best_price_ = price; }

  /// Climbs for `steps` price changes. `span`: how far above the bound the best objective may lie, in cost units.
  /// `meet` is handed each decoded labelling with its usage.
  void climb(int64_t steps, double span,
             const std::function<bool(const std::vector<int32_t>&, const std::vector<int64_t>&)>& meet);

  /// Passes messages at the best prices, which sharpens `forced` and `reduced`; `best_labels` are the best met
  /// meanwhile.
  void polish(int sweeps);

  /// What message passing takes at the best prices times `scale`. It stands at the best prices afterwards.
  std::vector<int32_t> labels_at(double scale, int sweeps);

  /// Best bound so far, the field's constant included.
  Cost bound() const;
  const std::vector<double>& prices() const { return best_price_; }
  const std::vector<int32_t>& best_labels() const { return best_labels_; }
  const std::vector<std::vector<int64_t>>& reduced() const { return dual_.reduced(); }

  /// The best bound known for each strategy, were it taken; scaled by 2^scale_bits(), without the field's constant.
  const std::vector<std::vector<Cost>>& forced() const { return forced_; }
  /// The dual at the best prices, and what those give back.
  DualBound& dual() { return dual_; }
  Cost rebate() const { return fixed_prices_.rebate(); }
  int scale_bits() const { return dual_.scale_bits(); }

 private:
  double evaluate_prices(int sweeps);
  MrfCost priced_cost(const std::vector<int32_t>& labels) const;
  void step(double target, double value, double momentum);

  const Mrf& mrf_;
  const MemoryRows& rows_;
  int64_t limit_;
  DualBound dual_;
  Prices fixed_prices_;
  std::vector<double> price_;
  std::vector<double> best_price_;
  std::vector<double> direction_;
  std::vector<int64_t> usage_;
  std::vector<int64_t> best_potentials_;
  std::vector<int32_t> best_labels_;
  std::vector<std::vector<Cost>> forced_;
  Cost best_ = 0;  ///< Scaled.
  bool known_ = false;
};

}  // namespace alpa::solver
