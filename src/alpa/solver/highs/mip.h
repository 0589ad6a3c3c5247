#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "alpa/solver/mrf.h"

namespace alpa::solver {

/// sum over terms of usage[s] · [node takes s] <= limit (bytes).
struct UsageRow {
  struct Term {
    int32_t node = 0;
    std::vector<int64_t> usage;  ///< One a strategy.
  };
  std::vector<Term> terms;
  int64_t limit = 0;
};

struct MipRequest {
  const Mrf* mrf = nullptr;
  std::vector<UsageRow> rows;
  bool minimise_peak = false;    ///< Minimise the largest excess over the rows' limits in place of the costs.
  std::optional<double> cutoff;  ///< Only labellings that cost less are wanted; the field's constant not included.
  double relative_gap = 0;
  double seconds = 60;
  int64_t branch_nodes = 20'000;
};

struct MipResult {
  bool finished = false;  ///< Proved: `labels` is optimal, or none is below the cutoff.
  bool stopped_by_clock = false;
  std::vector<int32_t> labels;  ///< Empty: none found. May cost more than the cutoff.
  double bound = 0;             ///< At most the cutoff; the field's constant not included; in double precision.
};

/// Branch and bound by HiGHS over the local polytope: binary node variables, continuous edge variables.
/// **Errors**: InternalError when HiGHS rejects the model.
MipResult solve_mip(const MipRequest& request);

}  // namespace alpa::solver
