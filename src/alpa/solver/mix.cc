#include "alpa/solver/mix.h"

#include <algorithm>
#include <random>

#include "alpa/solver/capped_local.h"
#include "alpa/solver/parallel.h"
#include "alpa/solver/presolve.h"

namespace alpa::solver {
namespace {

constexpr int kMostScales = 20;
constexpr double kNoise[] = {0.05, 0.1, 0.2, 0.4};  // Of the prices; tries take turns.
constexpr double kSpan = 0.3;                       // Scales that are tried lie so far around 1.
constexpr int kHalvings = 8;
constexpr size_t kTries = 48;
constexpr size_t kBatch = 12;
constexpr size_t kImproved = 2;
constexpr int64_t kBlocks = 200;

Graph restricted(const Graph& graph, const Mrf& mrf, const std::vector<std::vector<int32_t>>& labellings) {
  Graph result = graph;
  for (int32_t i = 0; i < mrf.size(); ++i) {
    std::vector<char> keep(mrf.domain(i), 0);
    for (const std::vector<int32_t>& labels : labellings) {
      if (labels[i] >= 0) keep[labels[i]] = 1;
    }
    result.restrict_to(mrf.vertex[i], keep);
  }
  presolve(result);
  return result;
}

}  // namespace

Mix::Mix(const Problem& problem, const Graph& graph, const Mrf& mrf,
         const std::vector<std::vector<int32_t>>& labellings, int64_t limit)
    : limit_(limit),
      graph_(restricted(graph, mrf, labellings)),
      field_(snapshot(graph_)),
      rows_(memory_rows(problem, graph_, field_, limit)) {}

std::optional<PricedExact::Scale> Mix::best_scale(const std::vector<double>& price,
                                                  const EliminationBudget& budget) const {
  return PricedExact(field_, rows_, limit_, budget, 1).best_scale(price, kMostScales);
}

/// The least scale of biased prices at which the best labelling fits.
Mix::Found Mix::biased(const Search& request, size_t number, const EliminationBudget& budget) const {
  const PricedExact exact(field_, rows_, limit_, budget, 1);
  std::mt19937_64 random(request.seed + number);
  std::vector<double> bias(static_cast<size_t>(field_.size()));
  const double noise = kNoise[number % std::size(kNoise)];
  for (double& b : bias) b = 1 + noise * (double(random() >> 11) * 0x1p-52 - 1);
  Found found;
  double low = 1 - kSpan;
  double high = 1 + kSpan;
  for (int k = 0; k < kHalvings; ++k) {
    const double scale = k == 0 ? high : (low + high) / 2;
    const std::optional<std::vector<int32_t>> labels = exact.at(scaled(request.price, scale), bias);
    if (!labels) return found;
    const bool fits = peak_of(rows_, usage_of(rows_, *labels)) <= limit_;
    if (!fits && k == 0) return found;
    (fits ? high : low) = scale;
    const Cost cost = cost_of(field_, *labels).cost;
    if (fits && (found.labels.empty() || cost < found.cost)) found = {*labels, cost};
  }
  return found;
}

Mix::Found Mix::improved(const Search& request, size_t number, const Found& start) const {
  Found best = start;
  CappedLocal local(field_, rows_, limit_, request.seed + number);
  local.set_guide(nullptr, request.price);
  local.set_listener([&best](const std::vector<int32_t>& labels, Cost cost) { best = {labels, cost}; });
  local.set_stop([&] { return best.cost <= request.enough || request.stop(); });
  local.start(start.labels);
  local.improve(kBlocks);
  return best;
}

void Mix::search(const Search& request, const EliminationBudget& budget,
                 const std::function<void(const std::vector<int32_t>&, Cost)>& meet) const {
  std::vector<Found> best;
  for (size_t tried = 0; tried < kTries; tried += kBatch) {
    std::vector<Found> found(kBatch);
    for_each_in_parallel(kBatch, [&](size_t k) { found[k] = biased(request, tried + k, budget); }, request.threads);
    std::erase_if(found, [](const Found& one) { return one.labels.empty(); });
    best.insert(best.end(), found.begin(), found.end());
    std::stable_sort(best.begin(), best.end(), [](const Found& a, const Found& b) { return a.cost < b.cost; });
    if (best.empty()) return;
    best.resize(std::min(best.size(), kImproved));
    meet(expand(graph_, field_, best[0].labels), best[0].cost);
    if (best[0].cost <= request.enough || request.stop()) return;
  }
  for_each_in_parallel(best.size(), [&](size_t k) { best[k] = improved(request, k, best[k]); }, request.threads);
  for (const Found& one : best) meet(expand(graph_, field_, one.labels), one.cost);
}

}  // namespace alpa::solver
