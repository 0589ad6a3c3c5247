#pragma once

#include <cstdint>
#include <vector>

#include "alpa/solver/cost.h"
#include "alpa/solver/memory_rows.h"
#include "alpa/solver/mrf.h"

namespace alpa::solver {

/// The prices, each times `factor`.
std::vector<double> scaled(std::vector<double> price, double factor);

/// Lagrangian prices on the rows: a byte at row r costs price[r]. In fixed point, rounded so that bounds stay bounds.
class Prices {
 public:
  Prices(const Mrf& mrf, const MemoryRows& rows, int64_t limit);

  /// Sets the prices, in cost units a byte; costs are multiplied by 2^bits from here on.
  void set(const std::vector<double>& price, int bits);

  /// Unary of a node: its cost plus what its usage costs, not above the truth.
  void unary(int32_t node, std::vector<int64_t>& out) const;
  std::vector<std::vector<int64_t>> unaries() const;

  /// sum of price times (limit - base), not below the truth: what a bound on the priced problem must give back.
  Cost rebate() const;

 private:
  const Mrf& mrf_;
  const MemoryRows& rows_;
  int64_t limit_;
  int64_t most_bytes_;  ///< Largest number of bytes that a price is multiplied by.
  int bits_ = 0;
  int fraction_ = 0;         ///< Bits behind the point of a price.
  std::vector<Cost> fixed_;  ///< Price of each row.
  std::vector<Cost> prefix_;
};

}  // namespace alpa::solver
