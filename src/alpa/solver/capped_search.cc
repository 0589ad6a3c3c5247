#include "alpa/solver/capped_search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "alpa/solver/capped_dual.h"
#include "alpa/solver/capped_local.h"
#include "alpa/solver/component_solver.h"
#include "alpa/solver/fixing.h"
#include "alpa/solver/highs/mip.h"
#include "alpa/solver/memory_reduction.h"
#include "alpa/solver/memory_rows.h"
#include "alpa/solver/mini_bucket.h"
#include "alpa/solver/presolve.h"

namespace alpa::solver {
namespace {

constexpr double kDualWork = 6e8;
constexpr double kShares[] = {0.1, 0.1, 0.2, 0.6};  // Of the budgets of a round, turn by turn.
constexpr int kPolish = 60;                         // Sweeps at the best prices.
constexpr double kDescents = 30;                    // Price changes of the search.
constexpr double kGain = 0.05;                      // Share of the gap that a turn must close for another one.
constexpr int64_t kBucketEntries[] = {1'000, 10'000, 100'000};
constexpr double kBucketGain = 0.2;  // Share of the gap that a bucket size must close for a larger one to be tried.

class CappedSearch {
 public:
  explicit CappedSearch(Run& run) : run_(run), limit_(*run.problem().usage_limit), graph_(run.problem(), true) {}

  bool run() {
    run_.begin("reduce");
    presolve(graph_);
    for (int64_t round = 0; !settled() && !run_.out_of_time(); ++round) {
      if (!step(round)) break;
    }
    run_.finish();
    return infeasible_;
  }

 private:
  /// An objective in the graph's units: what costs that or more is not looked for.
  Cost objective_limit() const {
    const Cost unit = Cost(1) << graph_.shift();
    return (run_.target(run_.best()) + unit - 1) / unit;
  }

  /// What was dropped costs floor_ or more.
  void raise_bound(Cost graph_bound) {
    run_.raise_bound((floor_ ? std::min(graph_bound, *floor_) : graph_bound) << graph_.shift());
  }

  /// No choice is left that fits and costs less than the best.
  void close() {
    if (run_.best().known) {
      raise_bound(objective_limit());
    } else {
      infeasible_ = true;
    }
    closed_ = true;
  }

  bool settled() {
    if (!closed_ && graph_.infeasible()) close();
    return closed_ || run_.near_enough(run_.best(), run_.bound());
  }

  bool step(int64_t round) {
    Mrf mrf = snapshot(graph_);
    if (solve_components(graph_, mrf, {run_.options().table_entries, run_.options().work}) > 0) {
      presolve(graph_);
      if (settled()) return false;
      mrf = snapshot(graph_);
    }
    run_.note_size("capped round " + std::to_string(round), mrf);
    MemoryRows rows = memory_rows(run_.problem(), graph_, mrf, limit_);
    while (rows.least_peak <= limit_ && reduce_by_memory(graph_, mrf, rows, limit_)) {
      presolve(graph_);
      if (settled()) return false;
      mrf = snapshot(graph_);
      rows = memory_rows(run_.problem(), graph_, mrf, limit_);
    }
    if (rows.least_peak > limit_) {
      close();
      return false;
    }
    run_.note_size("memory " + std::to_string(round), mrf);
    const bool search = round == 0 || stalled_;
    const int64_t dropped = bound_and_search(mrf, rows, round, search);
    if (settled()) return false;
    presolve(graph_);
    if (settled()) return false;
    const Mrf rest = snapshot(graph_);
    const bool shrank = dropped > 0 && rest.entries() * 100 < mrf.entries() * 97;
    // A round that does not shrink the field is followed by one that searches, and then by the MIP.
    const bool last = (!shrank && search && round > 0) || round + 1 >= run_.options().search_rounds;
    stalled_ = !shrank;
    return last ? finish_by_mip(rest) : true;
  }

  std::vector<double> start_prices(const MemoryRows& rows) const {
    std::vector<double> price(rows.size(), 0);
    for (const auto& [time, value] : price_at_) {
      const auto row = std::upper_bound(rows.time.begin(), rows.time.end(), time) - rows.time.begin();
      if (!price.empty()) price[std::max<ptrdiff_t>(row - 1, 0)] += value;
    }
    return price;
  }

  void keep_prices(const MemoryRows& rows, const std::vector<double>& price) {
    price_at_.clear();
    for (int32_t r = 0; r < rows.size(); ++r) {
      if (price[r] > 0) price_at_[rows.time[r]] = price[r];
    }
  }

  /// Offers a labelling that fits where it beats the run's best. False: nothing is left to gain.
  bool offer(const Mrf& mrf, const std::vector<int32_t>& labels, Cost cost) {
    if (!run_.best().known || (cost << graph_.shift()) < run_.best().objective) run_.offer(expand(graph_, mrf, labels));
    return !run_.near_enough(run_.best(), run_.bound()) && !run_.out_of_time();
  }

  int64_t bound_and_search(const Mrf& mrf, const MemoryRows& rows, int64_t round, bool search) {
    CappedDual dual(mrf, rows, limit_);
    dual.set_prices(start_prices(rows));
    CappedLocal local(mrf, rows, limit_, run_.options().seed + static_cast<uint64_t>(round));
    local.set_listener([&](const std::vector<int32_t>& labels, Cost cost) { return offer(mrf, labels, cost); });
    const auto entries = double(std::max<int64_t>(mrf.entries(), 1000));
    const auto most = static_cast<int64_t>(std::clamp(kDualWork / entries, 100.0, 1000.0));
    const int64_t steps = round == 0 ? most : most / 4;
    const int64_t blocks = 40 + mrf.size() / 10;
    // The bound and the search take turns, so that a gap that may stay ends both early.
    double gap = 0;
    for (double share : kShares) {
      run_.begin("price");
      climb(mrf, rows, dual, static_cast<int64_t>(std::ceil(share * double(steps))));
      if (done()) break;
      dual.polish(kPolish);
      raise_bound(dual.bound());
      if (done()) break;
      if (search) search_blocks(mrf, dual, local, round, share, blocks);
      if (done() || !gap_shrinks(gap)) break;
    }
    keep_prices(rows, dual.prices());
    if (!done()) raise_by_buckets(mrf, dual);
    return done() ? 0 : fix(mrf, dual);
  }

  /// Whether the gap became notably smaller since it was `last`; keeps it there.
  bool gap_shrinks(double& last) const {
    if (!run_.best().known) return true;
    const double now = double(run_.best().objective - run_.bound());
    const bool shrinks = last == 0 || now < (1 - kGain) * last;
    last = now;
    return shrinks;
  }

  bool done() { return settled() || run_.out_of_time(); }

  void search_blocks(const Mrf& mrf, const CappedDual& dual, CappedLocal& local, int64_t round, double share,
                     int64_t blocks) {
    run_.begin("search");
    local.set_guide(&dual.reduced(), dual.prices());
    if (!local.known()) local.start(dual.best_labels());
    if (round == 0 || !run_.best().known) local.descend(static_cast<int64_t>(std::ceil(share * kDescents)), blocks);
    if (!local.known() && run_.best().known) {
      const std::vector<int32_t> labels = labels_of(graph_, mrf, run_.best().choice);
      if (std::none_of(labels.begin(), labels.end(), [](int32_t s) { return s < 0; })) local.start(labels);
    }
    local.improve(static_cast<int64_t>(std::ceil(share * 10 * double(blocks))));
  }

  /// Mini-buckets at the best prices, larger ones while they promise to close the gap.
  void raise_by_buckets(const Mrf& mrf, CappedDual& dual) {
    if (!run_.best().known) return;
    run_.begin("buckets");
    const double start = double(run_.bound() >> graph_.shift());
    const double distance = double(objective_limit()) - start;
    for (int64_t entries : kBucketEntries) {
      if (done()) return;
      const Cost scaled = mini_bucket_bound(mrf, dual.dual(), entries);
      if (scaled == kNoLabelling) return graph_.set_infeasible();
      const Cost bound = mrf.constant - ((dual.rebate() - scaled) >> dual.scale_bits());
      raise_bound(bound);
      if (double(bound) - start < kBucketGain * distance) return;
    }
  }

  void climb(const Mrf& mrf, const MemoryRows& rows, CappedDual& dual, int64_t steps) {
    const auto meet = [&](const std::vector<int32_t>& labels, const std::vector<int64_t>& usage) {
      raise_bound(dual.bound());
      if (peak_of(rows, usage) <= limit_) {
        const MrfCost cost = cost_of(mrf, labels);
        if (cost.forbidden == 0) return offer(mrf, labels, cost.cost);
      }
      if (run_.best().known && dual.bound() >= objective_limit()) return false;
      return !run_.out_of_time();
    };
    const double bound = double(run_.bound() >> graph_.shift());
    double span = std::max(1.0, 0.3 * bound);
    if (run_.best().known) span = std::max(1.0, double(objective_limit()) - bound);
    dual.climb(steps, span, meet);
  }

  int64_t fix(const Mrf& mrf, CappedDual& dual) {
    if (!run_.best().known) return 0;
    const Cost one = Cost(1) << dual.scale_bits();
    const Cost limit = (objective_limit() - mrf.constant) * one - one + 1;
    floor_ = floor_ ? std::min(*floor_, objective_limit()) : objective_limit();
    dual.polish(10);
    // The pairs first: they know the tables as the field has them.
    const int64_t pairs = fix_pairs(graph_, mrf, dual.dual(), dual.rebate(), limit);
    return pairs + fix_by_bound(graph_, mrf, dual.forced(), limit);
  }

  /// Returns false: this is the last step.
  bool finish_by_mip(const Mrf& mrf) {
    if (mrf.entries() > run_.options().mip_entries || run_.out_of_time()) return false;
    run_.begin("mip");
    run_.note_size("before mip", mrf);
    const MemoryRows rows = memory_rows(run_.problem(), graph_, mrf, limit_);
    if (rows.least_peak > limit_) {
      close();
      return false;
    }
    const std::vector<double> price = start_prices(rows);
    std::vector<char> used(rows.size(), 0);
    MipRequest request;
    request.mrf = &mrf;
    request.relative_gap = run_.options().relative_gap;
    request.branch_nodes = run_.options().branch_nodes;
    for (int32_t r = 0; r < rows.size(); ++r) {
      used[r] = price[r] > 0;
      if (used[r]) request.rows.push_back(usage_row(rows, r, limit_));
    }
    while (!settled() && !run_.out_of_time() && mip_round(mrf, rows, request, used)) {
    }
    return false;
  }

  /// One MIP with the rows so far. Returns whether rows were added.
  bool mip_round(const Mrf& mrf, const MemoryRows& rows, MipRequest& request, std::vector<char>& used) {
    if (run_.best().known) request.cutoff = double(objective_limit() - mrf.constant);
    request.seconds = run_.seconds_left();
    const MipResult mip = solve_mip(request);
    run_.stats().out_of_time = run_.stats().out_of_time || mip.stopped_by_clock;
    run_.stats().floating_point_proof = true;
    if (mip.finished && mip.labels.empty()) {
      close();
      return false;
    }
    if (std::isfinite(mip.bound)) {
      const double safe = mip.bound - 1e-6 * std::max(1.0, std::abs(mip.bound) * 1e-3);
      raise_bound(mrf.constant + Cost(std::ceil(safe)));
    }
    if (mip.labels.empty()) return false;
    const std::vector<int64_t> usage = usage_of(rows, mip.labels);
    if (peak_of(rows, usage) <= limit_) {
      run_.offer(expand(graph_, mrf, mip.labels));
      if (mip.finished) raise_bound(mrf.constant + Cost(std::ceil(mip.bound - 0.5)));
      return false;
    }
    std::vector<int32_t> worst = peak_rows(usage, limit_);
    std::erase_if(worst, [&](int32_t r) { return used[r] != 0; });
    std::stable_sort(worst.begin(), worst.end(), [&](int32_t a, int32_t b) { return usage[a] > usage[b]; });
    if (worst.size() > 10) worst.resize(10);
    for (int32_t r : worst) {
      used[r] = 1;
      request.rows.push_back(usage_row(rows, r, limit_));
    }
    return !worst.empty();
  }

  Run& run_;
  int64_t limit_;
  Graph graph_;
  std::map<int64_t, double> price_at_;
  std::optional<Cost> floor_;  ///< In the graph's units; none: nothing was dropped by its bound.
  bool infeasible_ = false;
  bool closed_ = false;
  bool stalled_ = false;  ///< The last round fixed next to nothing.
};

}  // namespace

bool search_capped(Run& run) { return CappedSearch(run).run(); }

}  // namespace alpa::solver
