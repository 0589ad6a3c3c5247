#include "alpa/solver/elimination.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <queue>
#include <tuple>
#include <utility>

#include "alpa/base/error.h"
#include "alpa/solver/least_sums.h"
#include "alpa/solver/parallel.h"
#include "alpa/solver/repeats.h"
#include "alpa/solver/table.h"

namespace alpa::solver {
namespace {

constexpr double kMostLogDomain = 16;      // Best strategies are kept in 16 bits.
constexpr size_t kLargeTable = 1'000'000;  // Sums, from which on a table is made in parts side by side.
constexpr size_t kParts = 16;
constexpr double kMostRepeats = 128;  // Of the work, that a plan may hope to save by steps that repeat.

/// The graph while variables are taken out of it.
class Planner {
 public:
  Planner(const PairwiseProblem& problem, const EliminationBudget& budget)
      : problem_(problem),
        budget_(budget),
        log_domain_(problem.unary.size()),
        neighbours_(problem.unary.size()),
        version_(problem.unary.size(), 0),
        gone_(problem.unary.size(), 0) {
    for (size_t i = 0; i < log_domain_.size(); ++i) log_domain_[i] = std::log2(double(problem.unary[i].size()));
    for (const auto& pair : problem.pairs) {
      neighbours_[pair.a].push_back(pair.b);
      neighbours_[pair.b].push_back(pair.a);
    }
    for (size_t i = 0; i < neighbours_.size(); ++i) {
      std::sort(neighbours_[i].begin(), neighbours_[i].end());
      neighbours_[i].erase(std::unique(neighbours_[i].begin(), neighbours_[i].end()), neighbours_[i].end());
      push(static_cast<int32_t>(i));
    }
  }

  std::optional<EliminationPlan> run(bool may_freeze) {
    const double table_limit = std::log2(double(std::max<int64_t>(budget_.table_entries, 1)));
    const double most_work = double(budget_.work) * (may_freeze ? 1 : kMostRepeats);
    while (!queue_.empty()) {
      const auto [weight, version, v] = queue_.top();
      queue_.pop();
      if (gone_[v] || version != version_[v]) continue;
      const double table = weight - log_domain_[v];
      const double work = std::exp2(weight) * double(neighbours_[v].size() + 1);
      if (table > table_limit || std::isinf(table) || total_work_ + work > most_work) {
        if (!may_freeze) return std::nullopt;
        push(v);
        freeze_heaviest();
        continue;
      }
      total_work_ += work;
      work_.push_back(work);
      take(v);
    }
    sort_scopes();
    if (!may_freeze && !find_repeats_within_budget()) return std::nullopt;
    return std::move(plan_);
  }

 private:
  /// Weight, version and variable: of equals the one goes that fewest changes met, so that equal layers go side by
  /// side.
  using Item = std::tuple<double, int32_t, int32_t>;

  void sort_scopes() {
    std::vector<int32_t> position(gone_.size(), 0);
    for (size_t k = 0; k < plan_.order.size(); ++k) position[plan_.order[k]] = static_cast<int32_t>(k);
    for (auto& scope : plan_.scopes) {
      std::sort(scope.begin(), scope.end(), [&](int32_t u, int32_t v) { return position[u] < position[v]; });
    }
  }

  bool find_repeats_within_budget() {
    plan_.same_as = find_repeats(problem_, plan_);
    double work = 0;
    for (size_t k = 0; k < work_.size(); ++k) {
      if (plan_.same_as[k] == static_cast<int32_t>(k)) work += work_[k];
    }
    return work <= double(budget_.work);
  }

  void push(int32_t v) {
    double weight = log_domain_[v] <= kMostLogDomain ? log_domain_[v] : std::numeric_limits<double>::infinity();
    for (int32_t u : neighbours_[v]) weight += log_domain_[u];
    ++version_[v];
    queue_.emplace(weight, version_[v], v);
  }

  void detach(int32_t v) {
    gone_[v] = 1;
    for (int32_t u : neighbours_[v]) {
      auto& list = neighbours_[u];
      list.erase(std::lower_bound(list.begin(), list.end(), v));
    }
  }

  void take(int32_t v) {
    detach(v);
    const std::vector<int32_t> scope = neighbours_[v];
    std::vector<int32_t> merged;
    for (int32_t u : scope) {
      merged.clear();
      std::set_union(neighbours_[u].begin(), neighbours_[u].end(), scope.begin(), scope.end(),
                     std::back_inserter(merged));
      merged.erase(std::lower_bound(merged.begin(), merged.end(), u));
      neighbours_[u] = merged;
    }
    for (int32_t u : scope) push(u);
    plan_.order.push_back(v);
    plan_.scopes.push_back(scope);
  }

  void freeze_heaviest() {
    int32_t heaviest = -1;
    double most = -1;
    for (int32_t v = 0; v < static_cast<int32_t>(gone_.size()); ++v) {
      if (gone_[v]) continue;
      const double weight = log_domain_[v] * double(neighbours_[v].size() + 1);
      if (weight > most) std::tie(most, heaviest) = std::pair(weight, v);
    }
    detach(heaviest);
    for (int32_t u : neighbours_[heaviest]) push(u);
    plan_.frozen.push_back(heaviest);
  }

  const PairwiseProblem& problem_;
  EliminationBudget budget_;
  std::vector<double> log_domain_;
  std::vector<std::vector<int32_t>> neighbours_;
  std::vector<int32_t> version_;
  std::vector<char> gone_;
  std::priority_queue<Item, std::vector<Item>, std::greater<Item>> queue_;
  EliminationPlan plan_;
  std::vector<double> work_;  ///< Of each step.
  double total_work_ = 0;
};

using Costs = std::shared_ptr<const std::vector<int64_t>>;

/// A table over variables sorted by when they go; the first of them varies fastest.
struct Factor {
  std::vector<int32_t> scope;
  Costs costs;
};

/// What a step leaves: its variable's best strategy and the cost with it, for each entry of its scope.
struct Step {
  Costs costs;
  std::shared_ptr<const std::vector<uint16_t>> best;
  int32_t repeats = 0;  ///< Later steps that are the same.
};

class Runner {
 public:
  Runner(const PairwiseProblem& problem, const EliminationPlan& plan, int threads)
      : problem_(problem),
        plan_(plan),
        threads_(threads),
        position_(problem.unary.size()),
        buckets_(problem.unary.size()),
        steps_(plan.order.size()) {
    for (size_t k = 0; k < plan.order.size(); ++k) position_[plan.order[k]] = static_cast<int32_t>(k);
    for (size_t k = 0; k < plan.same_as.size(); ++k) {
      if (plan.same_as[k] != static_cast<int32_t>(k)) ++steps_[plan.same_as[k]].repeats;
    }
    for (const auto& pair : problem.pairs) add_pair(pair);
  }

  EliminationResult run() {
    EliminationResult result;
    for (size_t k = 0; k < plan_.order.size(); ++k) {
      const int64_t constant = take(k);
      result.cost = is_infinite(constant) ? kInfinite : add_costs(result.cost, constant);
    }
    result.labels.assign(problem_.unary.size(), 0);
    for (size_t k = plan_.order.size(); k-- > 0;) {
      const std::vector<int32_t>& scope = plan_.scopes[k];
      size_t index = 0;
      for (size_t s = scope.size(); s-- > 0;) {
        index = index * problem_.unary[scope[s]].size() + static_cast<size_t>(result.labels[scope[s]]);
      }
      result.labels[plan_.order[k]] = (*steps_[k].best)[index];
    }
    return result;
  }

 private:
  /// One factor's place while the table of a variable is filled: its steps along the table's scope.
  struct Cursor {
    const int64_t* place = nullptr;
    std::vector<ptrdiff_t> steps;
  };

  void add_pair(const PairwiseProblem::Pair& pair) {
    const bool a_first = position_[pair.a] < position_[pair.b];
    std::vector<int64_t> costs = pair.costs;
    if (a_first) {
      const size_t rows = problem_.unary[pair.a].size();
      const size_t cols = problem_.unary[pair.b].size();
      for (size_t r = 0; r < rows; ++r) {
        for (size_t c = 0; c < cols; ++c) costs[c * rows + r] = pair.costs[r * cols + c];
      }
    }
    add({a_first ? std::vector<int32_t>{pair.a, pair.b} : std::vector<int32_t>{pair.b, pair.a},
         std::make_shared<const std::vector<int64_t>>(std::move(costs))});
  }

  void add(Factor factor) { buckets_[position_[factor.scope[0]]].push_back(std::move(factor)); }

  Cursor cursor(const Factor& factor, const std::vector<int32_t>& scope) const {
    Cursor result;
    result.place = factor.costs->data();
    result.steps.assign(scope.size(), 0);
    ptrdiff_t stride = 1;
    for (int32_t u : factor.scope) {
      const auto found = std::find(scope.begin(), scope.end(), u);
      if (found != scope.end()) result.steps[found - scope.begin()] = stride;
      stride *= static_cast<ptrdiff_t>(problem_.unary[u].size());
    }
    return result;
  }

  /// Takes the variable of step k out; returns the constant where nothing depends on it.
  int64_t take(size_t k) {
    const int32_t like = plan_.same_as.empty() ? static_cast<int32_t>(k) : plan_.same_as[k];
    const std::vector<Factor> factors = std::move(buckets_[k]);
    Step& step = steps_[k];
    if (like == static_cast<int32_t>(k)) {
      minimise(k, factors);
    } else {
      step.costs = steps_[like].costs;
      step.best = steps_[like].best;
      --steps_[like].repeats;
      if (steps_[like].repeats == 0) steps_[like].costs.reset();
    }
    const Costs costs = step.costs;
    if (step.repeats == 0) step.costs.reset();
    if (plan_.scopes[k].empty()) return (*costs)[0];
    add({plan_.scopes[k], costs});
    return 0;
  }

  /// Sums the factors over the variable of step k and minimises.
  void minimise(size_t k, const std::vector<Factor>& factors) {
    const int32_t v = plan_.order[k];
    const std::vector<int32_t>& scope = plan_.scopes[k];
    std::vector<Cursor> cursors;
    for (const Factor& factor : factors) cursors.push_back(cursor(factor, scope));
    size_t entries = 1;
    for (int32_t u : scope) entries *= problem_.unary[u].size();
    std::vector<int64_t> costs(entries);
    std::vector<uint16_t> best(entries);
    // Runs of the first variable of the scope, one for each choice of the others.
    const size_t run = scope.empty() ? 1 : problem_.unary[scope[0]].size();
    const size_t runs = entries / run;
    const bool large = entries * problem_.unary[v].size() > kLargeTable;
    const size_t parts = std::min(runs, large ? kParts : size_t{1});
    for_each_in_parallel(
        parts,
        [&](size_t part) {
          const size_t first = runs * part / parts;
          minimise_runs(k, cursors, first, runs * (part + 1) / parts, costs.data() + first * run,
                        best.data() + first * run);
        },
        threads_);
    steps_[k].costs = std::make_shared<const std::vector<int64_t>>(std::move(costs));
    steps_[k].best = std::make_shared<const std::vector<uint16_t>>(std::move(best));
  }

  void minimise_runs(size_t k, std::vector<Cursor> cursors, size_t first, size_t last, int64_t* costs,
                     uint16_t* best) const {
    const std::vector<int32_t>& scope = plan_.scopes[k];
    const std::vector<int64_t>& unary = problem_.unary[plan_.order[k]];
    const size_t run = scope.empty() ? 1 : problem_.unary[scope[0]].size();
    std::vector<size_t> digits = start_at(first, scope, cursors);
    std::vector<int64_t> base;
    std::vector<CostRows> rows;
    for (size_t r = first; r < last; ++r) {
      base = unary;
      rows.clear();
      int since_clamp = 1;
      for (const Cursor& cursor : cursors) {
        if (!scope.empty() && cursor.steps[0] != 0) {
          rows.push_back({cursor.place, cursor.steps[0]});
          continue;
        }
        for (size_t s = 0; s < base.size(); ++s) base[s] += cursor.place[s];
        if (++since_clamp == 6) clamp(base, since_clamp);
      }
      clamp(base, since_clamp);
      least_sums(base, rows, static_cast<int32_t>(run), costs, best);
      costs += run;
      best += run;
      advance(scope, digits, cursors);
    }
  }

  static void clamp(std::vector<int64_t>& costs, int& since_clamp) {
    for (int64_t& cost : costs) cost = std::min(cost, kInfinite);
    since_clamp = 1;
  }

  /// Moves the cursors to run `run`; returns the digits of its place.
  std::vector<size_t> start_at(size_t run, const std::vector<int32_t>& scope, std::vector<Cursor>& cursors) const {
    std::vector<size_t> digits(scope.size(), 0);
    for (size_t s = 1; s < scope.size(); ++s) {
      const size_t domain = problem_.unary[scope[s]].size();
      digits[s] = run % domain;
      run /= domain;
      for (Cursor& cursor : cursors) cursor.place += cursor.steps[s] * static_cast<ptrdiff_t>(digits[s]);
    }
    return digits;
  }

  /// Moves the cursors to the next run.
  void advance(const std::vector<int32_t>& scope, std::vector<size_t>& digits, std::vector<Cursor>& cursors) const {
    for (size_t s = 1; s < scope.size(); ++s) {
      const size_t domain = problem_.unary[scope[s]].size();
      if (++digits[s] < domain) {
        for (Cursor& cursor : cursors) cursor.place += cursor.steps[s];
        return;
      }
      digits[s] = 0;
      for (Cursor& cursor : cursors) cursor.place -= cursor.steps[s] * static_cast<ptrdiff_t>(domain - 1);
    }
  }

  const PairwiseProblem& problem_;
  const EliminationPlan& plan_;
  int threads_;
  std::vector<int32_t> position_;
  std::vector<std::vector<Factor>> buckets_;
  std::vector<Step> steps_;
};

}  // namespace

std::optional<EliminationPlan> plan_elimination(const PairwiseProblem& problem, const EliminationBudget& budget,
                                                bool may_freeze) {
  return Planner(problem, budget).run(may_freeze);
}

EliminationResult run_elimination(const PairwiseProblem& problem, const EliminationPlan& plan, int threads) {
  ALPA_CHECK(plan.frozen.empty() && plan.order.size() == problem.unary.size());
  return Runner(problem, plan, threads).run();
}

}  // namespace alpa::solver
