#include "alpa/solver/run.h"

#include <algorithm>

#include "alpa/solver/evaluate.h"

namespace alpa::solver {

Run::Run(const Problem& problem, const Options& options) : problem_(problem), options_(options), start_(Clock::now()) {}

double Run::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

bool Run::out_of_time() {
  if (seconds_left() > 0) return false;
  stats_.out_of_time = true;
  return true;
}

void Run::offer(const std::vector<int32_t>& choice, Incumbent* relaxed, std::optional<double> seconds_found) {
  const Evaluation evaluation = evaluate(problem_, choice);
  if (evaluation.forbidden) return;
  const auto keep = [&](Incumbent& incumbent) {
    if (incumbent.known && incumbent.objective <= evaluation.objective) return;
    incumbent = {choice, evaluation.objective, true};
  };
  if (relaxed != nullptr) keep(*relaxed);
  if (!evaluation.fits || (best_.known && best_.objective <= evaluation.objective)) return;
  keep(best_);
  tell_at(seconds_found.value_or(seconds()));
}

void Run::tell_at(double seconds) {
  if (!options_.progress) return;
  Progress progress{phase_, seconds, std::nullopt, bound_};
  if (best_.known) progress.objective = best_.objective;
  options_.progress(progress);
}

void Run::raise_bound(Cost bound) {
  bound_ = std::max(bound_, bound);
  // Searches look for better choices than the best one only, so their bounds may pass it.
  if (best_.known) bound_ = std::min(bound_, best_.objective);
}

bool Run::near_enough(const Incumbent& incumbent, Cost bound) const {
  if (!incumbent.known) return false;
  if (bound >= incumbent.objective) return true;
  return double(incumbent.objective - bound) <= options_.relative_gap * double(incumbent.objective);
}

Cost Run::target(const Incumbent& incumbent) const {
  return incumbent.objective - Cost(options_.relative_gap * double(incumbent.objective));
}

void Statistics::append(const Statistics& other) {
  sizes.insert(sizes.end(), other.sizes.begin(), other.sizes.end());
  seconds.insert(seconds.end(), other.seconds.begin(), other.seconds.end());
  out_of_time = out_of_time || other.out_of_time;
  floating_point_proof = floating_point_proof || other.floating_point_proof;
}

void Run::begin(const std::string& phase) {
  finish();
  phase_ = phase;
  phase_start_ = seconds();
}

void Run::finish() {
  if (phase_.empty()) return;
  const double now = seconds();
  auto& times = stats_.seconds;
  const auto found = std::find_if(times.begin(), times.end(), [&](const auto& entry) { return entry.first == phase_; });
  if (found == times.end()) {
    times.emplace_back(phase_, now - phase_start_);
  } else {
    found->second += now - phase_start_;
  }
  tell_at(now);
  phase_.clear();
}

void Run::note_size(const std::string& after, const Mrf& mrf) {
  stats_.sizes.push_back({after, mrf.size(), static_cast<int64_t>(mrf.edges.size()), mrf.entries()});
}

}  // namespace alpa::solver
