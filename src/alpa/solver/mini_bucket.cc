#include "alpa/solver/mini_bucket.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace alpa::solver {
namespace {

using Scope = std::vector<int32_t>;

/// What is minimised when: for each variable in order the parts of its bucket, each a list of factors. A part's result
/// is a new factor, numbered on.
struct Plan {
  struct Bucket {
    int32_t variable = 0;
    std::vector<std::vector<int32_t>> parts;
  };
  std::vector<Bucket> buckets;
  std::vector<Scope> scopes;  ///< Of each factor, the given ones first; sorted by variable.
};

Scope united(const Scope& a, const Scope& b) {
  Scope result;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

/// Chooses the order, always the variable whose table is smallest, and the parts.
class Planner {
 public:
  Planner(const Mrf& mrf, int64_t entries) : log_limit_(std::log2(double(entries))), factors_(mrf.size()) {
    for (int32_t i = 0; i < mrf.size(); ++i) log_domain_.push_back(std::log2(double(mrf.domain(i))));
    for (const Mrf::Edge& edge : mrf.edges) add({edge.a, edge.b});
    version_.assign(mrf.size(), 0);
    gone_.assign(mrf.size(), 0);
    for (int32_t i = 0; i < mrf.size(); ++i) push(i);
  }

  Plan run() {
    while (!queue_.empty()) {
      const auto [weight, v, version] = queue_.top();
      queue_.pop();
      if (!gone_[v] && version == version_[v]) take(v);
    }
    return std::move(plan_);
  }

 private:
  double weight(const Scope& scope, int32_t without) const {
    double sum = 0;
    for (int32_t u : scope) sum += u == without ? 0 : log_domain_[u];
    return sum;
  }

  void add(Scope scope) {
    for (int32_t u : scope) factors_[u].push_back(static_cast<int32_t>(plan_.scopes.size()));
    plan_.scopes.push_back(std::move(scope));
  }

  Scope neighbourhood(int32_t v) const {
    Scope all = {v};
    for (int32_t f : factors_[v]) all = united(all, plan_.scopes[f]);
    return all;
  }

  void push(int32_t v) { queue_.emplace(weight(neighbourhood(v), -1), v, ++version_[v]); }

  void take(int32_t v) {
    gone_[v] = 1;
    const Scope touched = neighbourhood(v);
    std::vector<int32_t> bucket = factors_[v];
    std::stable_sort(bucket.begin(), bucket.end(),
                     [&](int32_t f, int32_t g) { return weight(plan_.scopes[f], v) > weight(plan_.scopes[g], v); });
    std::vector<Scope> scopes;
    Plan::Bucket result{v, {}};
    for (int32_t f : bucket) {
      size_t part = 0;
      for (; part < scopes.size(); ++part) {
        if (weight(united(scopes[part], plan_.scopes[f]), v) <= log_limit_) break;
      }
      if (part == scopes.size()) {
        scopes.emplace_back();
        result.parts.emplace_back();
      }
      scopes[part] = united(scopes[part], plan_.scopes[f]);
      result.parts[part].push_back(f);
      for (int32_t u : plan_.scopes[f]) std::erase(factors_[u], f);
    }
    if (scopes.empty()) {
      scopes.push_back({v});
      result.parts.emplace_back();
    }
    for (Scope& scope : scopes) {
      std::erase(scope, v);
      add(std::move(scope));
    }
    for (int32_t u : touched) {
      if (u != v) push(u);
    }
    plan_.buckets.push_back(std::move(result));
  }

  double log_limit_;
  std::vector<double> log_domain_;
  std::vector<std::vector<int32_t>> factors_;  ///< Living ones of each variable.
  std::vector<int32_t> version_;
  std::vector<char> gone_;
  std::priority_queue<std::tuple<double, int32_t, int32_t>, std::vector<std::tuple<double, int32_t, int32_t>>,
                      std::greater<>>
      queue_;
  Plan plan_;
};

constexpr int64_t kHeadroom = kInfinite / 8;  // Finite sums stay below it, so that none is taken for forbidden.

/// Largest finite cost, without its sign.
int64_t largest(const std::vector<int64_t>& costs) {
  int64_t most = 0;
  for (int64_t cost : costs) {
    if (!is_infinite(cost)) most = std::max(most, cost < 0 ? -cost : cost);
  }
  return most;
}

/// A table over variables in the order in which they go; the first varies fastest.
struct Factor {
  Scope scope;
  std::vector<int64_t> costs;
  int64_t most = 0;  ///< Its largest cost.
};

class Runner {
 public:
  Runner(const Mrf& mrf, const DualBound& dual, const Plan& plan)
      : mrf_(mrf), plan_(plan), unary_(dual.reparametrised()), position_(mrf.size()) {
    for (size_t k = 0; k < plan.buckets.size(); ++k) position_[plan.buckets[k].variable] = static_cast<int32_t>(k);
    for (int32_t e = 0; e < static_cast<int32_t>(mrf.edges.size()); ++e) {
      const Mrf::Edge& edge = mrf.edges[e];
      const bool a_first = position_[edge.a] < position_[edge.b];
      Factor factor{{edge.a, edge.b}, dual.reparametrised_edge(e, !a_first)};
      if (!a_first) std::swap(factor.scope[0], factor.scope[1]);
      factor.most = largest(factor.costs);
      factors_.push_back(std::move(factor));
    }
    for (size_t f = factors_.size(); f < plan.scopes.size(); ++f) {
      Scope scope = plan.scopes[f];
      std::sort(scope.begin(), scope.end(), [&](int32_t u, int32_t v) { return position_[u] < position_[v]; });
      factors_.push_back({std::move(scope), {}, 0});
    }
  }

  Cost run() {
    Cost bound = 0;
    size_t next = mrf_.edges.size();
    for (const Plan::Bucket& bucket : plan_.buckets) {
      const std::vector<std::vector<int64_t>> unaries = shares(bucket, next);
      if (too_large_) return -kNoLabelling;
      for (size_t part = 0; part < bucket.parts.size(); ++part, ++next) {
        Factor& out = factors_[next];
        out.costs.resize(entries(out.scope));
        scan(bucket.variable, bucket.parts[part], out.scope, unaries[part], [&](size_t entry, const int64_t* sums) {
          const int64_t least = *std::min_element(sums, sums + mrf_.domain(bucket.variable));
          out.costs[entry] = is_infinite(least) ? kInfinite : least;
        });
        if (too_large_) return -kNoLabelling;
        out.most = largest(out.costs);
        if (!out.scope.empty()) continue;
        if (is_infinite(out.costs[0])) return kNoLabelling;
        bound += out.costs[0];
      }
      for (const auto& part : bucket.parts) {
        for (int32_t f : part) factors_[f].costs = {};
      }
    }
    return bound;
  }

 private:
  struct Cursor {
    const int64_t* place = nullptr;
    std::vector<ptrdiff_t> steps;  ///< Along the scope that is scanned.
  };

  size_t entries(const Scope& scope) const {
    size_t count = 1;
    for (int32_t u : scope) count *= size_t(mrf_.domain(u));
    return count;
  }

  /// The variable's unary, parted so that every part finds each strategy as costly as the others do.
  std::vector<std::vector<int64_t>> shares(const Plan::Bucket& bucket, size_t first_out) {
    const std::vector<int64_t>& unary = unary_[bucket.variable];
    const size_t domain = unary.size();
    const auto parts = static_cast<int64_t>(bucket.parts.size());
    if (parts == 1) return {unary};
    const std::vector<int64_t> zero(domain, 0);
    std::vector<std::vector<int64_t>> marginals;
    for (size_t part = 0; part < bucket.parts.size(); ++part) {
      std::vector<int64_t> least(domain, kInfinite);
      scan(bucket.variable, bucket.parts[part], factors_[first_out + part].scope, zero,
           [&](size_t, const int64_t* sums) {
             for (size_t s = 0; s < domain; ++s) least[s] = std::min(least[s], sums[s]);
           });
      marginals.push_back(std::move(least));
    }
    for (size_t s = 0; s < domain; ++s) {
      Cost sum = unary[s];
      bool forbidden = is_infinite(unary[s]);
      for (const auto& marginal : marginals) {
        forbidden = forbidden || is_infinite(marginal[s]);
        sum += marginal[s];
      }
      // One part that forbids the strategy is enough; the others may as well.
      const auto mean = static_cast<int64_t>(sum / parts);
      for (auto& marginal : marginals) marginal[s] = forbidden ? kInfinite : mean - marginal[s];
      if (!forbidden) marginals[0][s] += static_cast<int64_t>(sum - Cost(mean) * parts);
    }
    return marginals;
  }

  /// Calls `hear(entry, sums by strategy of v)` for each labelling of the scope, in order.
  template <typename Hear>
  void scan(int32_t v, const std::vector<int32_t>& part, const Scope& scope, const std::vector<int64_t>& unary,
            const Hear& hear) {
    std::vector<Cursor> cursors;
    Cost most = largest(unary);
    for (int32_t f : part) {
      cursors.push_back(cursor(factors_[f], scope));
      most += factors_[f].most;
    }
    too_large_ = too_large_ || most >= kHeadroom;
    if (too_large_) return;
    const auto domain = static_cast<size_t>(mrf_.domain(v));
    std::vector<size_t> digits(scope.size(), 0);
    std::vector<int64_t> sums(domain);
    const size_t count = entries(scope);
    for (size_t entry = 0; entry < count; ++entry) {
      std::copy(unary.begin(), unary.end(), sums.begin());
      for (const Cursor& cursor : cursors) {
        for (size_t s = 0; s < domain; ++s) sums[s] = std::min(sums[s] + cursor.place[s], kInfinite);
      }
      hear(entry, sums.data());
      advance(scope, digits, cursors);
    }
  }

  /// The factor's first variable is the one that goes.
  Cursor cursor(const Factor& factor, const Scope& scope) const {
    Cursor result{factor.costs.data(), std::vector<ptrdiff_t>(scope.size(), 0)};
    ptrdiff_t stride = 1;
    for (int32_t u : factor.scope) {
      const auto found = std::find(scope.begin(), scope.end(), u);
      if (found != scope.end()) result.steps[found - scope.begin()] = stride;
      stride *= mrf_.domain(u);
    }
    return result;
  }

  void advance(const Scope& scope, std::vector<size_t>& digits, std::vector<Cursor>& cursors) const {
    for (size_t k = 0; k < scope.size(); ++k) {
      const auto domain = static_cast<size_t>(mrf_.domain(scope[k]));
      if (++digits[k] < domain) {
        for (Cursor& cursor : cursors) cursor.place += cursor.steps[k];
        return;
      }
      digits[k] = 0;
      for (Cursor& cursor : cursors) cursor.place -= cursor.steps[k] * static_cast<ptrdiff_t>(domain - 1);
    }
  }

  const Mrf& mrf_;
  const Plan& plan_;
  const std::vector<std::vector<int64_t>>& unary_;
  std::vector<int32_t> position_;
  std::vector<Factor> factors_;
  bool too_large_ = false;  ///< A sum might pass the headroom: there is no bound.
};

}  // namespace

Cost mini_bucket_bound(const Mrf& mrf, const DualBound& dual, int64_t entries) {
  const Plan plan = Planner(mrf, entries).run();
  return Runner(mrf, dual, plan).run();
}

}  // namespace alpa::solver
