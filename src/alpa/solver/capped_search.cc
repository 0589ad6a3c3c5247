#include "alpa/solver/capped_search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "alpa/solver/capped_dual.h"
#include "alpa/solver/capped_start.h"
#include "alpa/solver/capped_team.h"
#include "alpa/solver/component_solver.h"
#include "alpa/solver/fixing.h"
#include "alpa/solver/highs/mip.h"
#include "alpa/solver/memory_reduction.h"
#include "alpa/solver/memory_rows.h"
#include "alpa/solver/mini_bucket.h"
#include "alpa/solver/mix.h"
#include "alpa/solver/parallel.h"
#include "alpa/solver/presolve.h"
#include "alpa/solver/priced_exact.h"
#include "alpa/solver/prices.h"

namespace alpa::solver {
namespace {

constexpr double kDualWork = 6e8;
constexpr double kShares[] = {0.1, 0.1, 0.2, 0.6};  // Of the budgets of a round, turn by turn.
constexpr int kExactPrices = 6;                     // At which the field is minimised exactly, at most.
constexpr int64_t kExactWork = 12'000'000'000;      // Of one such minimum.
constexpr double kTrust = 0.1;                      // Change of the prices at once; doubles where that is too little.
constexpr double kExactGap = 1e-4;                  // Of the bound: nearer to what the mix promises it need not be.
constexpr double kGapShare = 0.25;                  // The same, of the gap that may stay.
constexpr double kNeighbours[] = {0.9, 1.0, 1.1, 1.2};  // Scales of the prices whose labellings join the mix,
constexpr int kSweeps = 20;                             // after so many sweeps.
const EliminationBudget kMixBudget{1 << 20, 100'000'000};
constexpr int kPolish = 60;                  // Sweeps at the best prices.
constexpr int64_t kDescents = 30;            // Price changes of the search.
constexpr int64_t kTeamEntries = 1'000'000;  // Up to which two search side by side.
constexpr int64_t kMostIntensity = 64;
constexpr int64_t kMipIntensity = 16;  // From which on the MIP is tried where the search finds nothing.
constexpr int kIdle = 2;               // Rounds without a better choice that are enough for that.
constexpr double kMipGap = 0.01;       // Below which the MIP is tried at once.
constexpr double kGain = 0.05;         // Share of the gap that a turn must close for another one.
constexpr int64_t kBucketEntries[] = {1'000, 10'000, 100'000};
constexpr double kBucketGain = 0.2;  // Share of the gap that a bucket size must close for a larger one to be tried.

}  // namespace

class CappedSearch::Search {
 public:
  explicit Search(Run& run) : run_(run), limit_(*run.problem().usage_limit), graph_(run.problem(), true) {}

  void start() {
    run_.begin("reduce");
    presolve(graph_);
    if (settled() || run_.best().known) return run_.finish();
    run_.begin("start");
    const Mrf mrf = snapshot(graph_);
    const MemoryRows rows = memory_rows(run_.problem(), graph_, mrf, limit_);
    quick_starts(mrf, rows, limit_, [&](const std::vector<int32_t>& labels) { offer(mrf, labels); });
    run_.finish();
  }

  bool run() {
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
    if (solve_components(graph_, mrf, {run_.options().table_entries, run_.options().work}, run_.options().threads) >
        0) {
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
    const bool spent = (!shrank && search && round > 0) || round + 1 >= run_.options().search_rounds + intensified_;
    stalled_ = !shrank;
    return spent ? intensify(rest) : true;
  }

  /// The usual rounds are spent: the MIP where it promises to end the search, then rounds with ever more local search,
  /// and the MIP where those find nothing better any more. False: this was the last round.
  bool intensify(const Mrf& mrf) {
    const bool improved = run_.best().known && (!last_objective_ || run_.best().objective < *last_objective_);
    if (run_.best().known) last_objective_ = run_.best().objective;
    idle_ = improved ? 0 : idle_ + 1;
    const bool last = intensified_ >= run_.options().intense_rounds || run_.out_of_time();
    const bool small_gap =
        run_.best().known && double(run_.best().objective - run_.bound()) < kMipGap * double(run_.best().objective);
    if (!tried_mip_ && (last || small_gap || (idle_ >= kIdle && intensity_ >= kMipIntensity))) {
      tried_mip_ = finish_by_mip(mrf);
      if (settled()) return false;
    }
    if (last) return false;
    ++intensified_;
    intensity_ = std::min(2 * intensity_, kMostIntensity);
    return true;
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
  bool offer(const Mrf& mrf, const std::vector<int32_t>& labels, std::optional<double> seconds = {}) {
    const Cost cost = cost_of(mrf, labels).cost << graph_.shift();
    if (!run_.best().known || cost < run_.best().objective) run_.offer(expand(graph_, mrf, labels), nullptr, seconds);
    return !run_.near_enough(run_.best(), run_.bound()) && !run_.out_of_time();
  }

  int64_t bound_and_search(const Mrf& mrf, const MemoryRows& rows, int64_t round, bool search) {
    CappedDual dual(mrf, rows, limit_);
    dual.set_prices(start_prices(rows));
    CappedTeam team(
        mrf, rows, limit_, run_.options().seed + static_cast<uint64_t>(round), mrf.entries() <= kTeamEntries ? 2 : 1,
        [this] { return run_.seconds_left() <= 0; }, [this] { return run_.seconds(); });
    const auto entries = double(std::max<int64_t>(mrf.entries(), 1000));
    const auto most = static_cast<int64_t>(std::clamp(kDualWork / entries, 100.0, 1000.0));
    const int64_t steps = round == 0 ? most : most / 4;
    // The bound and the search go side by side, so that a gap that may stay ends both early. A turn's search is guided
    // by the prices of the turn before.
    double gap = 0;
    for (size_t turn = 0; turn <= std::size(kShares) && !done(); ++turn) {
      std::vector<std::function<void()>> tasks;
      if (turn < std::size(kShares)) tasks.push_back([&] { climb(mrf, rows, dual, share_of(turn, steps)); });
      if (turn > 0 && search) add_searches(mrf, dual, team, round, turn - 1, tasks);
      run_.begin(tasks.size() > 1 ? "price and search" : turn < std::size(kShares) ? "price" : "search");
      for_each_in_parallel(tasks.size(), [&](size_t k) { tasks[k](); }, run_.options().threads);
      for (const CappedTeam::Find& find : team.take_finds()) offer(mrf, find.labels, find.seconds);
      if (done() || turn == std::size(kShares)) break;
      dual.polish(kPolish);
      raise_bound(dual.bound());
      if (round == 0 && !done()) mix_optima(mrf, rows, dual, turn == 0);
      if (done() || (turn > 0 && !gap_shrinks(gap))) break;
    }
    keep_prices(rows, dual.prices());
    if (!done()) raise_by_buckets(mrf, dual);
    return done() ? 0 : fix(mrf, dual);
  }

  /// Mixes what message passing takes at prices near the best, and what is best at them where the dynamic programme can
  /// tell (`exact`), which also bounds.
  void mix_optima(const Mrf& mrf, const MemoryRows& rows, CappedDual& dual, bool exact) {
    std::vector<std::vector<int32_t>> optima;
    if (run_.best().known) optima.push_back(labels_of(graph_, mrf, run_.best().choice));
    for (const double scale : kNeighbours) optima.push_back(dual.labels_at(scale, kSweeps));
    std::vector<double> price = dual.prices();
    if (exact) price = climb_exactly(mrf, rows, std::move(price), optima);
    if (done()) return;
    run_.begin("mix");
    keep_prices(rows, price);
    const Mix mix(run_.problem(), graph_, mrf, optima, limit_);
    run_.note_size("mix", mix.field());
    const double enough = double(run_.bound()) / (1 - run_.options().relative_gap);
    const Mix::Search search{start_prices(mix.rows()), Cost(enough) >> graph_.shift(), run_.options().seed,
                             run_.options().threads, [this] { return run_.seconds_left() <= 0; }};
    mix.search(search, kMixBudget, [&](const std::vector<int32_t>& choice, Cost cost) {
      if (!run_.best().known || cost << graph_.shift() < run_.best().objective) run_.offer(choice);
    });
  }

  /// Scales the prices to where the exact bound is best, as the mix of what is known promises; what is best at them
  /// joins `optima`. Returns the prices.
  /// **Source**: column generation, Dantzig and Wolfe 1960.
  std::vector<double> climb_exactly(const Mrf& mrf, const MemoryRows& rows, std::vector<double> price,
                                    std::vector<std::vector<int32_t>>& optima) {
    run_.begin("exact prices");
    const EliminationBudget budget{run_.options().table_entries, kExactWork};
    const PricedExact exact(mrf, rows, limit_, budget, run_.options().threads);
    const double near = std::max(kExactGap, kGapShare * run_.options().relative_gap);
    double promise = 0;
    double trust = kTrust;
    for (int k = 0; k < kExactPrices && !done(); ++k) {
      const std::optional<PricedOptimum> optimum = exact.at(price);
      if (!optimum) break;
      raise_bound(optimum->bound);
      optima.push_back(optimum->labels);
      if (k > 0 && double(optimum->bound) > promise - near * std::abs(promise)) break;
      keep_prices(rows, price);
      const Mix mix(run_.problem(), graph_, mrf, optima, limit_);
      const auto best = mix.best_scale(start_prices(mix.rows()), kMixBudget);
      if (!best) break;
      promise = best->bound;
      const double factor = std::clamp(best->scale, 1 / (1 + trust), 1 + trust);
      if (factor != best->scale) trust *= 2;
      price = scaled(std::move(price), factor);
    }
    return price;
  }

  static int64_t share_of(size_t turn, int64_t steps) {
    return static_cast<int64_t>(std::ceil(kShares[turn] * double(steps)));
  }

  /// The team's tasks of a turn.
  void add_searches(const Mrf& mrf, const CappedDual& dual, CappedTeam& team, int64_t round, size_t turn,
                    std::vector<std::function<void()>>& tasks) {
    team.set_guide(dual.reduced(), dual.prices());
    const bool known = run_.best().known;
    std::vector<int32_t> start = known ? labels_of(graph_, mrf, run_.best().choice) : dual.best_labels();
    if (std::any_of(start.begin(), start.end(), [](int32_t s) { return s < 0; })) start = dual.best_labels();
    const int64_t blocks = 40 + mrf.size() / 10;
    CappedTeam::Effort effort{0, blocks, share_of(turn, 10 * blocks * intensity_)};
    for (size_t k = 0; k < team.size(); ++k) {
      // The first searches from the best on; others come down from the prices anew, and so end elsewhere.
      const bool descends = round == 0 || !known || k > 0;
      effort.descents = descends ? share_of(turn, kDescents) : 0;
      tasks.push_back([&team, k, effort, from = k == 0 ? start : dual.best_labels()] { team.search(k, from, effort); });
    }
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
        if (cost.forbidden == 0) return offer(mrf, labels);
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

  /// False: the field is too large, or no time is left.
  bool finish_by_mip(const Mrf& mrf) {
    if (mrf.entries() > run_.options().mip_entries || run_.out_of_time()) return false;
    run_.begin("mip");
    run_.note_size("before mip", mrf);
    const MemoryRows rows = memory_rows(run_.problem(), graph_, mrf, limit_);
    if (rows.least_peak > limit_) {
      close();
      return true;
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
    return true;
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
  bool stalled_ = false;     ///< The last round fixed next to nothing.
  int64_t intensity_ = 1;    ///< Of the local search: multiplies its blocks.
  int64_t intensified_ = 0;  ///< Rounds that were.
  int idle_ = 0;             ///< Rounds in a row that found nothing better.
  bool tried_mip_ = false;
  std::optional<Cost> last_objective_;
};

CappedSearch::CappedSearch(Run& run) : search_(std::make_unique<Search>(run)) {}
CappedSearch::~CappedSearch() = default;
void CappedSearch::start() { search_->start(); }
bool CappedSearch::run() { return search_->run(); }

}  // namespace alpa::solver
