#include "alpa/solver/elimination.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>
#include <utility>

#include "alpa/base/error.h"
#include "alpa/solver/table.h"

namespace alpa::solver {
namespace {

/// The graph while variables are taken out of it.
class Planner {
 public:
  Planner(const PairwiseProblem& problem, const EliminationBudget& budget)
      : budget_(budget),
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
    while (!queue_.empty()) {
      const auto [weight, v, version] = queue_.top();
      queue_.pop();
      if (gone_[v] || version != version_[v]) continue;
      const double table = weight - log_domain_[v];
      const double work = std::exp2(weight) * double(neighbours_[v].size() + 1);
      if (table > table_limit || work_ + work > double(budget_.work)) {
        if (!may_freeze) return std::nullopt;
        push(v);
        freeze_heaviest();
        continue;
      }
      work_ += work;
      take(v);
    }
    return std::move(plan_);
  }

 private:
  using Item = std::tuple<double, int32_t, int32_t>;

  void push(int32_t v) {
    double weight = log_domain_[v];
    for (int32_t u : neighbours_[v]) weight += log_domain_[u];
    queue_.emplace(weight, v, ++version_[v]);
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

  EliminationBudget budget_;
  std::vector<double> log_domain_;
  std::vector<std::vector<int32_t>> neighbours_;
  std::vector<int32_t> version_;
  std::vector<char> gone_;
  std::priority_queue<Item, std::vector<Item>, std::greater<Item>> queue_;
  EliminationPlan plan_;
  double work_ = 0;
};

/// A table over variables sorted by when they go; the first of them varies fastest.
struct Factor {
  std::vector<int32_t> scope;
  std::vector<int64_t> costs;
};

class Runner {
 public:
  Runner(const PairwiseProblem& problem, const EliminationPlan& plan)
      : problem_(problem),
        plan_(plan),
        position_(problem.unary.size()),
        buckets_(problem.unary.size()),
        best_(problem.unary.size()),
        scopes_(plan.scopes) {
    for (size_t k = 0; k < plan.order.size(); ++k) position_[plan.order[k]] = static_cast<int32_t>(k);
    for (auto& scope : scopes_) {
      std::sort(scope.begin(), scope.end(), [&](int32_t u, int32_t v) { return position_[u] < position_[v]; });
    }
    for (const auto& pair : problem.pairs) add_pair(pair);
  }

  EliminationResult run() {
    EliminationResult result;
    for (size_t k = 0; k < plan_.order.size(); ++k) {
      const int64_t constant = minimise(k);
      result.cost = is_infinite(constant) ? kInfinite : add_costs(result.cost, constant);
    }
    result.labels.assign(problem_.unary.size(), 0);
    for (size_t k = plan_.order.size(); k-- > 0;) {
      size_t index = 0;
      for (size_t s = scopes_[k].size(); s-- > 0;) {
        index = index * problem_.unary[scopes_[k][s]].size() + result.labels[scopes_[k][s]];
      }
      result.labels[plan_.order[k]] = best_[k][index];
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
    Factor factor;
    factor.scope = a_first ? std::vector<int32_t>{pair.a, pair.b} : std::vector<int32_t>{pair.b, pair.a};
    if (!a_first) {
      factor.costs = pair.costs;
    } else {
      const size_t rows = problem_.unary[pair.a].size();
      const size_t cols = problem_.unary[pair.b].size();
      factor.costs.resize(rows * cols);
      for (size_t r = 0; r < rows; ++r) {
        for (size_t c = 0; c < cols; ++c) factor.costs[c * rows + r] = pair.costs[r * cols + c];
      }
    }
    buckets_[position_[factor.scope[0]]].push_back(std::move(factor));
  }

  Cursor cursor(const Factor& factor, const std::vector<int32_t>& scope) const {
    Cursor result;
    result.place = factor.costs.data();
    result.steps.assign(scope.size(), 0);
    ptrdiff_t stride = 1;
    for (int32_t u : factor.scope) {
      const auto found = std::find(scope.begin(), scope.end(), u);
      if (found != scope.end()) result.steps[found - scope.begin()] = stride;
      stride *= static_cast<ptrdiff_t>(problem_.unary[u].size());
    }
    return result;
  }

  /// Sums the bucket's factors over its variable and minimises; returns the constant where the scope is empty.
  int64_t minimise(size_t k) {
    const int32_t v = plan_.order[k];
    const std::vector<int32_t>& scope = scopes_[k];
    const std::vector<Factor> factors = std::move(buckets_[k]);
    std::vector<Cursor> cursors;
    for (const Factor& factor : factors) cursors.push_back(cursor(factor, scope));
    size_t entries = 1;
    for (int32_t u : scope) entries *= problem_.unary[u].size();
    Factor out;
    out.scope = scope;
    out.costs.resize(entries);
    best_[k].resize(entries);
    std::vector<size_t> digits(scope.size(), 0);
    std::vector<int64_t> sums(problem_.unary[v].size());
    for (size_t entry = 0; entry < entries; ++entry) {
      std::tie(out.costs[entry], best_[k][entry]) = least(v, cursors, sums);
      advance(scope, digits, cursors);
    }
    if (scope.empty()) return out.costs[0];
    buckets_[position_[scope[0]]].push_back(std::move(out));
    return 0;
  }

  std::pair<int64_t, int32_t> least(int32_t v, const std::vector<Cursor>& cursors, std::vector<int64_t>& sums) const {
    const std::vector<int64_t>& unary = problem_.unary[v];
    const size_t domain = unary.size();
    std::copy(unary.begin(), unary.end(), sums.begin());
    int since_clamp = 1;
    for (const Cursor& cursor : cursors) {
      for (size_t s = 0; s < domain; ++s) sums[s] += cursor.place[s];
      if (++since_clamp < 6) continue;
      for (size_t s = 0; s < domain; ++s) sums[s] = std::min(sums[s], kInfinite);
      since_clamp = 1;
    }
    int32_t best = 0;
    for (size_t s = 1; s < domain; ++s) {
      if (sums[s] < sums[best]) best = static_cast<int32_t>(s);
    }
    return {is_infinite(sums[best]) ? kInfinite : sums[best], best};
  }

  void advance(const std::vector<int32_t>& scope, std::vector<size_t>& digits, std::vector<Cursor>& cursors) const {
    for (size_t s = 0; s < scope.size(); ++s) {
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
  std::vector<int32_t> position_;
  std::vector<std::vector<Factor>> buckets_;
  std::vector<std::vector<int32_t>> best_;
  std::vector<std::vector<int32_t>> scopes_;
};

}  // namespace

std::optional<EliminationPlan> plan_elimination(const PairwiseProblem& problem, const EliminationBudget& budget,
                                                bool may_freeze) {
  return Planner(problem, budget).run(may_freeze);
}

EliminationResult run_elimination(const PairwiseProblem& problem, const EliminationPlan& plan) {
  ALPA_CHECK(plan.frozen.empty() && plan.order.size() == problem.unary.size());
  return Runner(problem, plan).run();
}

}  // namespace alpa::solver
