#include "alpa/solver/hub_search.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "alpa/solver/parallel.h"

namespace alpa::solver {
namespace {

constexpr size_t kBeam = 3;        // Parts that a level of the dive keeps,
constexpr size_t kCandidates = 4;  // and strategies that are tried in each.
constexpr int kMostLevels = 12;
constexpr size_t kNearShare = 3;   // What is decided is first felt by one in so many nodes,
constexpr size_t kLeastNear = 40;  // at least so many.
constexpr int kNearSweeps = 8;
constexpr int kDiveSweeps = 4;    // Of all nodes, for a part that the dive keeps.
constexpr int kFirstSweeps = 30;  // For a part of the first level of the proof: a few parts stay open there,
constexpr int kLaterSweeps = 40;  // and must be closed below.
constexpr int64_t kExpectedSweeps = 10;
const EliminationBudget kSmall{1 << 18, 20'000'000};  // Of a branch that is solved.

/// A part that is still to be looked at.
struct Part {
  const Branch* of = nullptr;
  int32_t node = 0;
  int32_t strategy = 0;
};

/// The parts by the strategies of each branch's hub, at most so many of a branch. A branch without a hub is decided.
std::vector<Part> parts_of(const std::vector<Branch>& branches, size_t most) {
  std::vector<Part> parts;
  for (const Branch& branch : branches) {
    const int32_t hub = branch.hub();
    if (hub < 0) continue;
    const std::vector<int32_t> ranked = branch.ranked(hub);
    for (size_t k = 0; k < std::min(most, ranked.size()); ++k) parts.push_back({&branch, hub, ranked[k]});
  }
  return parts;
}

/// Looks at the surroundings of what each part decides, then at all nodes, until the bound reaches the limit: such
/// parts are not given back.
std::vector<std::unique_ptr<Branch>> look_at(const std::vector<Part>& parts, int sweeps, Cost limit, int threads,
                                             const std::function<bool()>& stop) {
  std::vector<std::unique_ptr<Branch>> result(parts.size());
  const auto look = [&](size_t k) {
    if (stop && stop()) return;
    auto branch = std::make_unique<Branch>(parts[k].of->choose(parts[k].node, parts[k].strategy));
    const size_t near = std::max(kLeastNear, parts[k].of->size() / kNearShare);
    branch->sweep_among(branch->around(parts[k].node, near), kNearSweeps, limit);
    if (sweeps > 0 && branch->bound() < limit) branch->sweep(sweeps, limit);
    if (branch->bound() < limit) result[k] = std::move(branch);
  };
  for_each_in_parallel(parts.size(), look, threads);
  std::erase(result, nullptr);
  return result;
}

/// Narrows the branches and drops the ones of which nothing is left.
std::vector<Branch> narrowed(std::vector<std::unique_ptr<Branch>> branches, Cost limit, int threads) {
  const auto narrow = [&](size_t k) {
    if (!branches[k]->narrow(limit)) branches[k].reset();
  };
  for_each_in_parallel(branches.size(), narrow, threads);
  std::vector<Branch> result;
  for (std::unique_ptr<Branch>& branch : branches) {
    if (branch) result.push_back(std::move(*branch));
  }
  return result;
}

}  // namespace

bool HubSearch::suits(const Mrf& mrf) {
  return std::all_of(mrf.edges.begin(), mrf.edges.end(), [](const Mrf::Edge& edge) {
    return std::none_of(edge.table->costs.begin(), edge.table->costs.end(), is_infinite);
  });
}

/// Closes the branches that are small enough to be solved, among them those of only one labelling.
void HubSearch::settle() {
  std::vector<std::optional<Branch::Minimum>> minima(open_.size());
  for_each_in_parallel(open_.size(), [&](size_t k) { minima[k] = open_[k].minimum(kSmall); }, threads_);
  std::vector<Branch> rest;
  for (size_t k = 0; k < open_.size(); ++k) {
    if (!minima[k]) {
      rest.push_back(std::move(open_[k]));
    } else if (minima[k]->cost < limit_) {
      limit_ = minima[k]->cost;
      decided_ = std::move(minima[k]->labels);
    }
  }
  open_ = std::move(rest);
}

Cost HubSearch::raise_bound(Cost limit, int64_t work) {
  limit_ = std::min(limit_, limit);
  for (;;) {
    settle();
    std::erase_if(open_, [&](const Branch& branch) { return branch.bound() >= limit_; });
    Cost bound = limit_;
    for (const Branch& branch : open_) bound = std::min(bound, branch.bound());
    const std::vector<Part> parts = parts_of(open_, size_t(-1));
    for (const Part& part : parts) work -= kExpectedSweeps * 2 * part.of->entries();
    if (open_.empty() || work < 0) return bound;
    auto found = look_at(parts, open_.size() == 1 ? kFirstSweeps : kLaterSweeps, limit_, threads_, stop_);
    if (stopped()) return bound;  // Some may not have been looked at.
    open_ = narrowed(std::move(found), limit_, threads_);
  }
}

void HubSearch::dive(Cost limit, const LabelListener& hear) const {
  std::vector<Branch> beam = open_;
  for (int level = 0; level < kMostLevels && !beam.empty() && !stopped(); ++level) {
    std::vector<std::unique_ptr<Branch>> found = look_at(parts_of(beam, kCandidates), 0, limit, threads_, stop_);
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a->bound() < b->bound(); });
    if (found.size() > kBeam) found.resize(kBeam);
    for_each_in_parallel(found.size(), [&](size_t k) { found[k]->sweep(kDiveSweeps, limit); }, threads_);
    for (const auto& branch : found) limit = std::min(limit, hear(branch->decoded()));
    beam = narrowed(std::move(found), limit, threads_);
  }
}

}  // namespace alpa::solver
