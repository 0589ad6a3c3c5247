#include "alpa/solver/repeats.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace alpa::solver {
namespace {

using Costs = std::vector<int64_t>;

uint64_t hash_of(const Costs& costs) {
  uint64_t hash = costs.size();
  for (const int64_t cost : costs) hash = (hash ^ static_cast<uint64_t>(cost)) * 0x9E3779B97F4A7C15ull + (hash >> 29);
  return hash;
}

/// Gives equal costs the same id, by content.
class Ids {
 public:
  int32_t id(const Costs& costs) {
    std::vector<std::pair<const Costs*, int32_t>>& alike = found_[hash_of(costs)];
    for (const auto& [other, id] : alike) {
      if (*other == costs) return id;
    }
    alike.emplace_back(&costs, next_);
    return next_++;
  }

 private:
  std::unordered_map<uint64_t, std::vector<std::pair<const Costs*, int32_t>>> found_;  // Looked up only.
  int32_t next_ = 0;
};

struct Factor {
  std::vector<int32_t> scope;  ///< Variables.
  int64_t table = 0;           ///< What it holds: an id, and how it lies.
};

class Finder {
 public:
  Finder(const PairwiseProblem& problem, const EliminationPlan& plan)
      : problem_(problem), plan_(plan), position_(problem.unary.size()), buckets_(plan.order.size()) {
    for (size_t k = 0; k < plan.order.size(); ++k) position_[plan.order[k]] = k;
    for (const auto& pair : problem.pairs) {
      const int64_t table = 4 * int64_t(ids_.id(pair.costs));
      const bool a_first = position_[pair.a] < position_[pair.b];
      if (a_first) {
        add({{pair.a, pair.b}, table});
      } else {
        add({{pair.b, pair.a}, table + 1});
      }
    }
  }

  std::vector<int32_t> run() {
    std::vector<int32_t> result;
    std::map<std::vector<int64_t>, int32_t> first;
    for (size_t k = 0; k < plan_.order.size(); ++k) {
      const auto step = static_cast<int32_t>(k);
      const int32_t like = first.emplace(key(k), step).first->second;
      result.push_back(like);
      if (!plan_.scopes[k].empty()) add({plan_.scopes[k], 4 * int64_t(like) + 2});
    }
    return result;
  }

 private:
  void add(Factor factor) { buckets_[position_[factor.scope[0]]].push_back(std::move(factor)); }

  /// All that the tables of step k come from.
  std::vector<int64_t> key(size_t k) {
    const std::vector<int32_t>& scope = plan_.scopes[k];
    const auto place = [&](int32_t v) -> int64_t {
      return v == plan_.order[k] ? -1 : std::find(scope.begin(), scope.end(), v) - scope.begin();
    };
    std::vector<std::vector<int64_t>> parts;
    for (const Factor& factor : buckets_[k]) {
      std::vector<int64_t> part = {factor.table};
      for (const int32_t v : factor.scope) part.push_back(place(v));
      parts.push_back(std::move(part));
    }
    std::sort(parts.begin(), parts.end());
    std::vector<int64_t> key = {ids_.id(problem_.unary[plan_.order[k]]), static_cast<int64_t>(scope.size())};
    for (const int32_t v : scope) key.push_back(static_cast<int64_t>(problem_.unary[v].size()));
    for (const auto& part : parts) {
      key.push_back(static_cast<int64_t>(part.size()));
      key.insert(key.end(), part.begin(), part.end());
    }
    return key;
  }

  const PairwiseProblem& problem_;
  const EliminationPlan& plan_;
  Ids ids_;
  std::vector<size_t> position_;
  std::vector<std::vector<Factor>> buckets_;
};

}  // namespace

std::vector<int32_t> find_repeats(const PairwiseProblem& problem, const EliminationPlan& plan) {
  return Finder(problem, plan).run();
}

}  // namespace alpa::solver
