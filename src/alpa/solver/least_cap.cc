#include "alpa/solver/least_cap.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "alpa/solver/block_search.h"
#include "alpa/solver/component_solver.h"
#include "alpa/solver/dual_bound.h"
#include "alpa/solver/evaluate.h"
#include "alpa/solver/highs/mip.h"
#include "alpa/solver/memory_rows.h"
#include "alpa/solver/presolve.h"
#include "alpa/solver/prices.h"

namespace alpa::solver {
namespace {

constexpr int64_t kMipEntries = 300'000;
constexpr int kWeightSteps = 150;
constexpr int kMostBits = 20;

/// The problem with nothing but what is forbidden and what uses memory.
Problem without_costs(const Problem& problem) {
  Problem result = problem;
  const auto clear = [](std::vector<int64_t>& costs) {
    for (int64_t& cost : costs) cost = cost >= kForbidden ? kForbidden : 0;
  };
  for (Node& node : result.nodes) clear(node.costs);
  for (CostTable& table : result.tables) clear(table.costs);
  return result;
}

class LeastCapSearch {
 public:
  LeastCapSearch(Run& run) : run_(run), problem_(without_costs(run.problem())), graph_(problem_, true) {}

  LeastCap run(const std::vector<int32_t>& hint) {
    run_.begin("least cap");
    if (!hint.empty()) keep(hint);
    presolve(graph_);
    if (!graph_.infeasible()) {
      solve_components(graph_, snapshot(graph_), {run_.options().table_entries, run_.options().work},
                       run_.options().threads);
    }
    presolve(graph_);
    if (graph_.infeasible()) {
      result_.no_choice = true;
    } else {
      minimise();
    }
    run_.finish();
    return std::move(result_);
  }

 private:
  bool done() { return (result_.known && result_.peak <= result_.bound) || run_.out_of_time(); }

  void keep(const std::vector<int32_t>& choice) {
    const Evaluation evaluation = evaluate(run_.problem(), choice);
    if (evaluation.forbidden) return;
    const auto peak = static_cast<int64_t>(evaluation.peak_usage);
    if (result_.known && peak >= result_.peak) return;
    result_.known = true;
    result_.peak = peak;
    result_.choice = choice;
    run_.offer(choice);
  }

  void keep_labels(const Mrf& mrf, const MemoryRows& rows, const std::vector<int32_t>& labels) {
    if (result_.known && peak_of(rows, usage_of(rows, labels)) >= result_.peak) return;
    if (cost_of(mrf, labels).forbidden == 0) keep(expand(graph_, mrf, labels));
  }

  void minimise() {
    const Mrf mrf = snapshot(graph_);
    const int64_t least = memory_rows(problem_, graph_, mrf, 0).least_peak;
    result_.bound = least;
    const MemoryRows rows = memory_rows(problem_, graph_, mrf, least);
    std::vector<int32_t> smallest(mrf.size(), 0);
    for (int32_t i = 0; i < mrf.size(); ++i) smallest[i] = smallest_label(rows, mrf, i);
    keep_labels(mrf, rows, smallest);
    if (done()) return;
    std::vector<double> weight(rows.size(), 1.0 / std::max(1, rows.size()));
    if (rows.size() > 0) climb(mrf, rows, weight);
    if (!done()) finish_by_mip(mrf, rows, weight);
  }

  static int32_t smallest_label(const MemoryRows& rows, const Mrf& mrf, int32_t node) {
    std::vector<double> sum(mrf.domain(node), 0);
    for (const MemoryRows::Span& span : rows.spans[node]) {
      for (size_t s = 0; s < sum.size(); ++s) sum[s] += double(span.usage[s]);
    }
    return static_cast<int32_t>(std::min_element(sum.begin(), sum.end()) - sum.begin());
  }

  static int price_bits(const MemoryRows& rows) {
    double total = 1;
    for (const auto& spans : rows.spans) {
      for (const MemoryRows::Span& span : spans) {
        total += double(*std::max_element(span.usage.begin(), span.usage.end()));
      }
    }
    return static_cast<int>(std::clamp(55 - std::log2(total), 0.0, double(kMostBits)));
  }

  void climb(const Mrf& mrf, const MemoryRows& rows, std::vector<double>& weight) {
    DualBound dual(mrf);
    Prices prices(mrf, rows, 0);
    BlockSearch blocks(mrf, run_.options().seed);
    const int bits = price_bits(rows);
    for (int k = 0; k < kWeightSteps && !done(); ++k) {
      // A little less than 1 in sum, so that rounding cannot lift the bound.
      std::vector<double> price = weight;
      for (double& p : price) p *= 1 - 1e-9;
      prices.set(price, bits);
      const auto unaries = prices.unaries();
      dual.set_unaries(unaries);
      Cost value = 0;
      for (int sweep = 0; sweep < 3; ++sweep) value = dual.sweep() - prices.rebate();
      result_.bound = std::max(result_.bound, static_cast<int64_t>(-((-value) >> bits)));
      std::vector<int32_t> labels = dual.decoded();
      repair(mrf, blocks, unaries, labels);
      keep_labels(mrf, rows, labels);
      const std::vector<int64_t> usage = usage_of(rows, labels);
      const double peak = double(std::max<int64_t>(1, *std::max_element(usage.begin(), usage.end())));
      const double rate = 8.0 / (1 + 0.1 * k);
      double sum = 0;
      for (int32_t r = 0; r < rows.size(); ++r) sum += weight[r] *= std::exp(rate * (double(usage[r]) / peak - 1));
      for (double& w : weight) w /= sum;
    }
  }

  void repair(const Mrf& mrf, BlockSearch& blocks, const std::vector<std::vector<int64_t>>& unaries,
              std::vector<int32_t>& labels) {
    for (int attempt = 0; attempt < 5 && !run_.out_of_time(); ++attempt) {
      bool clean = true;
      for (const Mrf::Edge& edge : mrf.edges) {
        if (!is_infinite(edge.table->at(labels[edge.a], labels[edge.b]))) continue;
        clean = false;
        const auto block =
            blocks.solve(blocks.region_around(edge.a, 30 << attempt), labels, unaries, 0, {100'000, 10'000'000});
        for (size_t i = 0; i < block.nodes.size(); ++i) labels[block.nodes[i]] = block.labels[i];
      }
      if (clean) return;
    }
  }

  void finish_by_mip(const Mrf& mrf, const MemoryRows& rows, const std::vector<double>& weight) {
    if (mrf.entries() > kMipEntries || rows.size() == 0) return;
    MipRequest request;
    request.mrf = &mrf;
    request.minimise_peak = true;
    request.branch_nodes = run_.options().branch_nodes;
    std::vector<char> used(rows.size(), 0);
    const auto use = [&](int32_t r) {
      used[r] = 1;
      request.rows.push_back(usage_row(rows, r, 0));
    };
    for (int32_t r = 0; r < rows.size(); ++r) {
      if (weight[r] > 0.01) use(r);
    }
    while (!done()) {
      if (result_.known) request.cutoff = double(result_.peak);
      request.seconds = run_.seconds_left();
      const MipResult mip = solve_mip(request);
      run_.stats().out_of_time = run_.stats().out_of_time || mip.stopped_by_clock;
      run_.stats().floating_point_proof = true;
      if (mip.finished && mip.labels.empty()) {
        if (result_.known) {
          result_.bound = result_.peak;
        } else {
          result_.no_choice = true;
        }
        return;
      }
      if (std::isfinite(mip.bound)) {
        result_.bound = std::max(result_.bound, int64_t(std::ceil(mip.bound - 1e-3 - 1e-6 * std::abs(mip.bound))));
      }
      if (mip.labels.empty()) return;
      keep_labels(mrf, rows, mip.labels);
      std::vector<int32_t> worst = peak_rows(usage_of(rows, mip.labels), result_.bound);
      std::erase_if(worst, [&](int32_t r) { return used[r] != 0; });
      if (worst.size() > 10) worst.resize(10);
      if (worst.empty()) return;
      for (int32_t r : worst) use(r);
    }
  }

  Run& run_;
  Problem problem_;
  Graph graph_;
  LeastCap result_;
};

}  // namespace

LeastCap search_least_cap(Run& run, const std::vector<int32_t>& hint) { return LeastCapSearch(run).run(hint); }

}  // namespace alpa::solver
