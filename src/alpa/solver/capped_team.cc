#include "alpa/solver/capped_team.h"

#include <iterator>
#include <utility>

namespace alpa::solver {
namespace {

constexpr int64_t kWorthNoting = 100'000;  ///< A find is kept where it costs less by this share or is the last.

}  // namespace

CappedTeam::CappedTeam(const Mrf& mrf, const MemoryRows& rows, int64_t limit, uint64_t seed, size_t members,
                       const std::function<bool()>& stop, std::function<double()> clock)
    : finds_(members) {
  for (size_t k = 0; k < members; ++k) {
    CappedLocal& member = members_.emplace_back(mrf, rows, limit, seed + 0x9E3779B97F4A7C15 * k);
    member.set_stop(stop);
    member.set_listener([clock, &finds = finds_[k]](const std::vector<int32_t>& labels, Cost cost) {
      const bool close = finds.size() > 1 && finds[finds.size() - 2].cost - cost < cost / kWorthNoting;
      if (close) finds.pop_back();
      finds.push_back({clock(), cost, labels});
    });
  }
}

void CappedTeam::set_guide(const std::vector<std::vector<int64_t>>& reduced, const std::vector<double>& price) {
  reduced_ = reduced;
  price_ = price;
  for (CappedLocal& member : members_) member.set_guide(&reduced_, price_);
}

void CappedTeam::search(size_t member, const std::vector<int32_t>& start, const Effort& effort) {
  CappedLocal& local = members_[member];
  if (!local.known()) local.start(start);
  if (effort.descents > 0) local.descend(effort.descents, effort.blocks_a_descent);
  local.improve(effort.blocks);
}

std::vector<CappedTeam::Find> CappedTeam::take_finds() {
  std::vector<Find> all;
  for (std::vector<Find>& finds : finds_) {
    std::move(finds.begin(), finds.end(), std::back_inserter(all));
    finds.clear();
  }
  return all;
}

}  // namespace alpa::solver
