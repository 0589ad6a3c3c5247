#pragma once

#include <functional>

#include "alpa/frontend/array.h"

/// Learning rates that depend on the number of steps done (an s32 scalar, from 0). A plain number is a schedule too.
namespace alpa::optim {

/// A learning rate: constant, or a function of the step.
class Schedule {
 public:
  Schedule(double constant) : constant_(constant) {}  // NOLINT(google-explicit-constructor): a number reads as one
  explicit Schedule(std::function<Array(const Array& step)> function) : function_(std::move(function)) {}

  /// The value at a step: f32, or a weak scalar if constant.
  Array at(const Array& step) const { return function_ ? function_(step) : Array(constant_); }

 private:
  double constant_ = 0;
  std::function<Array(const Array&)> function_;
};

/// From `from` to `to` in `steps` equal steps, then constant.
Schedule linear_schedule(double from, double to, int64_t steps);
/// From `peak` down along half a cosine to `alpha * peak` in `steps`, then constant.
Schedule cosine_decay_schedule(double peak, int64_t steps, double alpha = 0);
/// Linear from `from` to `peak` in `warmup_steps`, then a cosine to `end` at `steps`.
Schedule warmup_cosine_decay_schedule(double from, double peak, int64_t warmup_steps, int64_t steps, double end = 0);
/// `from * rate ^ (step / transition_steps)`; by whole steps if `staircase`.
Schedule exponential_decay_schedule(double from, int64_t transition_steps, double rate, bool staircase = false);

}  // namespace alpa::optim
