#include "alpa/solver/free_search.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "alpa/solver/block_search.h"
#include "alpa/solver/component_solver.h"
#include "alpa/solver/dual_bound.h"
#include "alpa/solver/fixing.h"
#include "alpa/solver/highs/mip.h"
#include "alpa/solver/hub_search.h"
#include "alpa/solver/mini_bucket.h"
#include "alpa/solver/presolve.h"

namespace alpa::solver {
namespace {

constexpr int64_t kQuickWork = 50'000'000;
constexpr int64_t kBucketEntries[] = {1'000, 10'000, 100'000};
constexpr int64_t kQuickHubs = 300'000'000;
constexpr double kEasyGap = 0.75;  // Of the gap that was asked for.
constexpr int64_t kMostHubs = 6'000'000'000;
constexpr int64_t kHubDive = 1'000;  // Passes over the tables that a dive may take.
constexpr double kBucketGain = 0.2;  // Share of the gap that a bucket size must close for a larger one to be tried.

class FreeSearch {
 public:
  FreeSearch(Run& run, const Incumbent& start) : run_(run), graph_(run.problem(), false) { result_.incumbent = start; }

  FreeResult run() {
    run_.begin("reduce");
    presolve(graph_);
    for (int64_t round = 0; !settled() && !run_.out_of_time(); ++round) {
      if (!step(round)) break;
    }
    run_.finish();
    return std::move(result_);
  }

 private:
  /// An objective in the graph's units: what costs that or more is not looked for.
  Cost limit() const { return rounded_up(run_.target(result_.incumbent)); }

  Cost rounded_up(Cost objective) const {
    const Cost unit = Cost(1) << graph_.shift();
    return (objective + unit - 1) / unit;
  }

  void raise_bound(Cost graph_bound) {
    // What was dropped costs floor_ or more.
    Cost bound = (floor_ ? std::min(graph_bound, *floor_) : graph_bound) << graph_.shift();
    if (result_.incumbent.known) bound = std::min(bound, result_.incumbent.objective);
    result_.bound = std::max(result_.bound, bound);
    run_.raise_bound(result_.bound);
  }

  /// Nothing is left that costs less than limit().
  void close() { raise_bound(limit()); }

  /// Whether the graph says that the search is over.
  bool settled() {
    if (!graph_.infeasible()) return run_.near_enough(result_.incumbent, result_.bound);
    if (result_.incumbent.known) {
      close();
    } else {
      result_.no_choice = true;
    }
    return true;
  }

  /// Whether the best choice needs more memory than there is: then a search that ignores memory has told what it can.
  bool beside_the_point() const {
    const Incumbent& fitting = run_.best();
    return result_.incumbent.known && (!fitting.known || fitting.objective > result_.incumbent.objective);
  }

  void offer(const Mrf& mrf, const std::vector<int32_t>& labels) {
    if (cost_of(mrf, labels).forbidden == 0) run_.offer(expand(graph_, mrf, labels), &result_.incumbent);
  }

  bool step(int64_t round) {
    run_.begin("eliminate");
    const int64_t work = round == 0 ? std::min(kQuickWork, run_.options().work) : run_.options().work;
    Mrf mrf = snapshot(graph_);
    run_.note_size("round " + std::to_string(round), mrf);
    solve_components(graph_, mrf, {run_.options().table_entries, work}, run_.options().threads);
    presolve(graph_);
    if (settled()) return false;
    mrf = snapshot(graph_);
    if (mrf.size() == 0) {
      offer(mrf, {});
      raise_bound(mrf.constant);
      return false;
    }
    const int64_t dropped = bound_and_improve(mrf, round);
    if (settled() || beside_the_point()) return false;
    if (graph_.infeasible()) return true;
    const int64_t before = mrf.entries();
    presolve(graph_);
    if (graph_.infeasible()) return true;
    const Mrf rest = snapshot(graph_);
    const bool shrank = dropped > 0 && rest.entries() * 100 < before * 95;
    if ((shrank || round == 0) && round + 1 < run_.options().search_rounds) return true;
    finish_by_mip(rest);
    return false;
  }

  /// Sweeps, decodes, searches around the best decode, and fixes. Returns the number of strategies dropped.
  int64_t bound_and_improve(const Mrf& mrf, int64_t round) {
    run_.begin("bound");
    DualBound dual(mrf);
    Cost best = 0;
    int stalled = 0;
    const int sweeps = round == 0 ? 60 : 200;
    std::vector<int32_t> labels;
    MrfCost cost;
    for (int k = 0; k < sweeps && stalled < 12 && !run_.out_of_time(); ++k) {
      const Cost bound = dual.sweep();
      const Cost gain = bound - best;
      stalled = k > 0 && double(gain) < 1e-5 * std::abs(double(bound)) ? stalled + 1 : 0;
      if (k == 0 || bound > best) best = bound;
      const MrfCost decoded = cost_of(mrf, dual.decoded());
      const bool better =
          decoded.forbidden < cost.forbidden || (decoded.forbidden == cost.forbidden && decoded.cost < cost.cost);
      if (labels.empty() || better) {
        labels = dual.decoded();
        cost = decoded;
      }
      raise_bound(mrf.constant + ceil_shift(best, dual.scale_bits()));
      if (promising(cost)) offer(mrf, labels);
      if (run_.near_enough(result_.incumbent, result_.bound)) return 0;
    }
    run_.begin("search");
    offer(mrf, labels);
    // Where a gap may stay the bound may close it first: then a short search is enough.
    const bool gap_allowed = run_.options().relative_gap > 0;
    if (!run_.near_enough(result_.incumbent, result_.bound)) improve(mrf, dual, labels, round, gap_allowed ? 1 : 2);
    if (!result_.incumbent.known) return 0;
    if (round == 0) search_hubs(mrf, dual);
    if (settled()) return 0;
    raise_by_buckets(mrf, dual);
    if (settled()) return 0;
    if (gap_allowed) {
      run_.begin("search");
      improve(mrf, dual, labels, round, 2);
      if (settled()) return 0;
    }
    const Cost scaled = (limit() - mrf.constant) << dual.scale_bits();
    floor_ = floor_ ? std::min(*floor_, limit()) : limit();
    // A strategy must go above limit - 1, the next better objective.
    const Cost reached = scaled - (Cost(1) << dual.scale_bits()) + 1;
    const int64_t pairs = fix_pairs(graph_, mrf, dual, 0, reached);
    return pairs + fix_by_bound(graph_, mrf, dual.forced(), reached);
  }

  /// Decides the hubs of the field, where that pays: first to close the gap at once, else to find a better choice and
  /// then to close it.
  void search_hubs(const Mrf& mrf, const DualBound& dual) {
    if (run_.near_enough(result_.incumbent, result_.bound) || beside_the_point() || !HubSearch::suits(mrf)) return;
    const auto scaled = [&](Cost cost) { return (cost - mrf.constant) << dual.scale_bits(); };
    const auto objective = [&] { return scaled(result_.incumbent.objective >> graph_.shift()); };
    const auto prove = [&](HubSearch& search, Cost aim, int64_t work) {
      run_.begin("hubs");
      const Cost bound = search.raise_bound(scaled(aim), work);
      if (!search.decided().empty()) offer(mrf, search.decided());
      raise_bound(mrf.constant + ceil_shift(bound, dual.scale_bits()));
      return run_.near_enough(result_.incumbent, result_.bound);
    };
    HubSearch search(Branch(std::shared_ptr<const Mrf>(&mrf, [](const Mrf*) {}), dual), run_.options().threads,
                     [this] { return run_.seconds_left() <= 0; });
    // What is easily closed may be closed to better than was asked for.
    const auto margin = Cost(kEasyGap * double(result_.incumbent.objective - run_.target(result_.incumbent)));
    if (prove(search, rounded_up(result_.incumbent.objective - margin), kQuickHubs) ||
        kHubDive * mrf.entries() > kMostHubs)
      return;
    run_.begin("dive");
    search.dive(objective(), [&](const std::vector<int32_t>& labels) {
      offer(mrf, labels);
      return objective();
    });
    prove(search, limit(), run_.options().relative_gap > 0 ? kMostHubs : run_.options().hub_work);
  }

  /// Mini-buckets, larger ones while they promise to close the gap.
  void raise_by_buckets(const Mrf& mrf, const DualBound& dual) {
    run_.begin("buckets");
    const double start = double(result_.bound >> graph_.shift());
    const double distance = double(limit()) - start;
    for (int64_t entries : kBucketEntries) {
      if (run_.near_enough(result_.incumbent, result_.bound) || run_.out_of_time()) return;
      const Cost scaled = mini_bucket_bound(mrf, dual, entries);
      if (scaled == kNoLabelling) return graph_.set_infeasible();
      const Cost bound = mrf.constant + ceil_shift(scaled, dual.scale_bits());
      raise_bound(bound);
      if (double(bound) - start < kBucketGain * distance) return;
    }
  }

  /// Whether a labelling of this cost would end the search.
  bool promising(const MrfCost& cost) const {
    const Cost objective = cost.cost << graph_.shift();
    if (cost.forbidden > 0 || (result_.incumbent.known && result_.incumbent.objective <= objective)) return false;
    return run_.near_enough({{}, objective, true}, result_.bound);
  }

  static Cost ceil_shift(Cost value, int bits) { return -((-value) >> bits); }

  void improve(const Mrf& mrf, DualBound& dual, std::vector<int32_t>& labels, int64_t round, int patience) {
    BlockSearch search(mrf, run_.options().seed + static_cast<uint64_t>(round));
    search.set_guide(&dual.reduced());
    repair(mrf, search, labels);
    const int64_t batch = 50 + mrf.size() / 20;
    MrfCost last = cost_of(mrf, labels);
    int idle = 0;
    const int batches = patience == 1 ? 2 : round == 0 ? 12 : 5;
    for (int k = 0; k < batches && idle < patience && !run_.out_of_time(); ++k) {
      const MrfCost now = improve_by_blocks(mrf, search, labels, batch);
      // A gain that is small beside the gap that may stay is none.
      const double least_gain = 0.05 * run_.options().relative_gap * double(last.cost);
      const bool gained = now.forbidden < last.forbidden || double(last.cost - now.cost) > least_gain;
      idle = gained ? 0 : idle + 1;
      last = now;
    }
    offer(mrf, labels);
  }

  /// Solves blocks around forbidden entries until none is left or it does not help.
  void repair(const Mrf& mrf, BlockSearch& search, std::vector<int32_t>& labels) {
    for (int attempt = 0; attempt < 20 && !run_.out_of_time(); ++attempt) {
      bool clean = true;
      for (const Mrf::Edge& edge : mrf.edges) {
        if (!is_infinite(edge.table->at(labels[edge.a], labels[edge.b]))) continue;
        clean = false;
        const auto block = search.solve(search.region_around(edge.a, 30 << std::min(attempt, 4)), labels, mrf.unary, 0,
                                        {100'000, 10'000'000});
        for (size_t i = 0; i < block.nodes.size(); ++i) labels[block.nodes[i]] = block.labels[i];
      }
      if (clean) return;
    }
  }

  void finish_by_mip(const Mrf& mrf) {
    if (mrf.entries() > run_.options().mip_entries || run_.out_of_time()) return;
    run_.begin("mip");
    MipRequest request;
    request.mrf = &mrf;
    if (result_.incumbent.known) request.cutoff = double(limit() - mrf.constant);
    request.relative_gap = run_.options().relative_gap;
    request.seconds = run_.seconds_left();
    request.branch_nodes = run_.options().branch_nodes;
    const MipResult mip = solve_mip(request);
    run_.stats().floating_point_proof = true;
    run_.stats().out_of_time = run_.stats().out_of_time || mip.stopped_by_clock;
    if (!mip.labels.empty()) offer(mrf, mip.labels);
    if (mip.finished && mip.labels.empty()) {
      if (!result_.incumbent.known) {
        result_.no_choice = true;
      } else {
        close();
      }
      return;
    }
    if (!std::isfinite(mip.bound)) return;
    const double safe = mip.bound - 1e-6 * std::max(1.0, std::abs(mip.bound) * 1e-3);
    raise_bound(mrf.constant + Cost(std::ceil(safe)));
  }

  Run& run_;
  Graph graph_;
  FreeResult result_;
  std::optional<Cost> floor_;  ///< In the graph's units; none: nothing was dropped by its bound.
};

}  // namespace

FreeResult search_free(Run& run, const Incumbent& start) { return FreeSearch(run, start).run(); }

}  // namespace alpa::solver
