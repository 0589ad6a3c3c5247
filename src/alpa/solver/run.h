#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alpa/solver/graph.h"
#include "alpa/solver/mrf.h"
#include "alpa/solver/solve.h"

namespace alpa::solver {

/// The best choice found under some notion of "feasible".
struct Incumbent {
  std::vector<int32_t> choice;
  Cost objective = 0;
  bool known = false;
};

/// What one call of `solve` carries along: problem, options, clock, statistics, the best choice and the bound.
class Run {
 public:
  Run(const Problem& problem, const Options& options);

  const Problem& problem() const { return problem_; }
  const Options& options() const { return options_; }
  Statistics& stats() { return stats_; }

  double seconds() const;
  double seconds_left() const { return options_.time_limit_seconds - seconds(); }
  /// Notes in the statistics that the clock struck.
  bool out_of_time();

  /// Evaluates a choice; keeps it as the run's best where it is allowed, fits and costs less, and as `relaxed` best
  /// where it is merely allowed.
  /// `seconds`: when it was found; empty: now.
  void offer(const std::vector<int32_t>& choice, Incumbent* relaxed = nullptr, std::optional<double> seconds = {});

  const Incumbent& best() const { return best_; }
  Cost bound() const { return bound_; }
  void raise_bound(Cost bound);

  /// Whether an objective is proved to be as near a bound as was asked for.
  bool near_enough(const Incumbent& incumbent, Cost bound) const;

  /// Objectives from this on need not be told apart: once nothing costs less, the incumbent is near enough.
  Cost target(const Incumbent& incumbent) const;

  /// Ends the current phase (statistics, progress) and begins another.
  void begin(const std::string& phase);
  void finish();
  void note_size(const std::string& after, const Mrf& mrf);

 private:
  using Clock = std::chrono::steady_clock;

  void tell_at(double seconds);

  const Problem& problem_;
  const Options& options_;
  Clock::time_point start_;
  std::string phase_;
  double phase_start_ = 0;
  Statistics stats_;
  Incumbent best_;
  Cost bound_ = 0;
};

}  // namespace alpa::solver
