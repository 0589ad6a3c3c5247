#include "alpa/compiler/recompute_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <vector>

#include "alpa/base/amount.h"
#include "alpa/base/error.h"
#include "alpa/compiler/rematerialized.h"
#include "alpa/passes/rematerialize.h"
#include "alpa/planner/intra/memory.h"
#include "alpa/planner/remat/recompute.h"

namespace alpa::compiler {
namespace {

constexpr int64_t kNoCap = std::numeric_limits<int64_t>::max();
constexpr std::array<int, 9> kSegments = {2, 3, 4, 6, 8, 12, 16, 24, 48};
constexpr int kTries = 6;             // Plans that are made to meet the cap.
constexpr double kBinds = 0.5;        // Share of the cap that a plan fills which was made for less.
constexpr double kWorthMore = 1.005;  // Ratio of objectives from which on recomputing might pay.

// Most bytes of values alive at once, whole. What they are is the same for all that is made anew, so differences count.
int64_t whole_peak(const Program& program) {
  const std::vector<planner::Lifetime> lives = planner::lifetimes(program.module, program.graph);
  std::vector<int64_t> changes(lives.size() + 1);
  for (size_t id = 0; id < lives.size(); ++id) {
    if (!lives[id].occupies || hlo::is_generator(program.module, program.graph, static_cast<hlo::NodeId>(id))) continue;
    int64_t bytes = 0;
    for (const hlo::ValueId value : program.graph.nodes[id].results) {
      const tensor::Shape& shape = program.graph.values[static_cast<size_t>(value)].shape;
      if (shape.is_array()) bytes += tensor::byte_size(shape);
    }
    changes[static_cast<size_t>(lives[id].begin)] += bytes;
    changes[static_cast<size_t>(lives[id].end)] -= bytes;
  }
  int64_t now = 0;
  int64_t peak = 0;
  for (const int64_t change : changes) peak = std::max(peak, now += change);
  return peak;
}

/// A set of values and what it does to the program.
struct Candidate {
  planner::Recomputation recomputation;
  int64_t peak = 0;  ///< As whole_peak.
};

class Search {
 public:
  explicit Search(const RecomputeSearch& search)
      : search_(search),
        allowed_(passes::rematerializable(search.program.module)),
        chooser_({search.program.module, allowed_, search.device}) {}

  MeshPlan run() {
    std::optional<MeshPlan> kept;
    try {
      kept = search_.plan_within(search_.program, search_.cap_bytes);
    } catch (const InfeasibleError& error) {
      if (error.least_memory_bytes() < 0 || !chooser_.possible()) throw;
      return meet_the_cap(error);
    }
    if (chooser_.possible() && fills_the_cap(*kept)) improve(*kept);
    return std::move(*kept);
  }

 private:
  bool fills_the_cap(const MeshPlan& found) const {
    return static_cast<double>(found.plan.predicted_memory_per_device_bytes) >
           kBinds * static_cast<double>(search_.cap_bytes);
  }

  MeshPlan plan(const Candidate& candidate) const {
    const Program program = rematerialized(search_.program, candidate.recomputation.names);
    MeshPlan result = search_.plan_within(program, search_.cap_bytes);
    result.plan.rematerialized = candidate.recomputation.names;
    result.plan.rematerialization_saved_bytes =
        std::max<int64_t>(whole_peak(search_.program) - candidate.peak, 0) / search_.num_devices;
    result.plan.rematerialization_added_seconds = static_cast<double>(program.micro_batches()) *
                                                  candidate.recomputation.seconds /
                                                  static_cast<double>(search_.num_devices);
    return result;
  }

  int64_t fall(int64_t bytes_a_device) const { return bytes_a_device * search_.num_devices; }

  // Nothing fits as it is.
  MeshPlan meet_the_cap(const InfeasibleError& without) {
    int64_t wanted = whole_peak(search_.program) - fall(without.least_memory_bytes() - search_.cap_bytes);
    int64_t least = without.least_memory_bytes();
    for (int tried = 0; tried < kTries; ++tried) {
      const Candidate& candidate = cheapest(wanted);
      try {
        return plan(candidate);
      } catch (const InfeasibleError& error) {
        if (error.least_memory_bytes() < 0) throw;
        least = std::min(least, error.least_memory_bytes());
        if (candidate.peak > wanted) break;  // there is none that takes less
        const int64_t missing = error.least_memory_bytes() - search_.cap_bytes;
        wanted = candidate.peak - std::max<int64_t>(fall(missing), candidate.peak / 100);
      }
    }
    throw InfeasibleError(fmt::format("[plan] no plan was found that fits into {} a device, values of the forward pass "
                                      "made anew in the backward pass or not",
                                      amount_of_memory(search_.cap_bytes)),
                          least, /*proved=*/false);
  }

  // The cap costs something: perhaps more than making values anew.
  void improve(MeshPlan& kept) {
    const MeshPlan free = search_.plan_within(search_.program, kNoCap);
    const int64_t missing = free.plan.predicted_memory_per_device_bytes - search_.cap_bytes;
    if (missing <= 0 || kept.plan.objective_seconds <= kWorthMore * free.plan.objective_seconds) return;
    const Candidate& candidate = cheapest(whole_peak(search_.program) - fall(missing));
    try {
      MeshPlan found = plan(candidate);
      if (found.plan.objective_seconds < kept.plan.objective_seconds) kept = std::move(found);
    } catch (const InfeasibleError&) {
      return;
    }
  }

  const Candidate& candidate(const planner::RecomputeLevel& level) {
    planner::Recomputation chosen = chooser_.choose(level);
    const auto [known, added] = candidates_.try_emplace(chosen.names);
    if (added) {
      known->second.peak = whole_peak(rematerialized(search_.program, chosen.names));
      known->second.recomputation = std::move(chosen);
    }
    return known->second;
  }

  // Of the candidates with at most this peak that of least seconds; if there is none, that of least peak.
  const Candidate& cheapest(int64_t peak) {
    const Candidate* best = nullptr;
    const auto is_better = [&](const Candidate& one) {
      if (best == nullptr) return true;
      if ((one.peak <= peak) != (best->peak <= peak)) return one.peak <= peak;
      const double seconds = one.recomputation.seconds;
      return one.peak <= peak ? seconds < best->recomputation.seconds : one.peak < best->peak;
    };
    const auto offer = [&](const Candidate& one) {
      if (is_better(one)) best = &one;
    };
    for (const int segments : kSegments) {
      for (const double price : chooser_.prices()) {
        planner::RecomputeLevel level{segments, segments - 1, price};
        const Candidate& most = candidate(level);
        offer(most);
        if (most.peak > peak) continue;
        int fits = level.recomputed;  // fewer of the segments may do
        for (int below = 0; below + 1 < fits;) {
          level.recomputed = (below + fits) / 2;
          const Candidate& fewer = candidate(level);
          offer(fewer);
          (fewer.peak <= peak ? fits : below) = level.recomputed;
        }
      }
    }
    return *best;
  }

  const RecomputeSearch& search_;
  const std::vector<bool> allowed_;
  const planner::RecomputeChooser chooser_;
  std::map<std::vector<std::string>, Candidate> candidates_;
};

}  // namespace

MeshPlan plan_recomputing(const RecomputeSearch& search) { return Search(search).run(); }

}  // namespace alpa::compiler
