#include "alpa/frontend/optim/schedule.h"

#include <cmath>

#include "alpa/base/error.h"
#include "alpa/frontend/ops/elementwise.h"

namespace alpa::optim {
namespace {

void require_steps(const char* what, int64_t steps) {
  require<InvalidArgumentError>(steps > 0, what, "{} steps: at least 1", steps);
}

// How much of `steps` is done, in [0, 1].
Array share(const Array& step, int64_t steps) {
  return clip(divide(step.astype(DType::kF32), static_cast<double>(steps)), 0, 1);
}

// From 1 down to 0 along half a cosine.
Array half_cosine(const Array& done) { return multiply(0.5, add(1, cos(multiply(M_PI, done)))); }

}  // namespace

Schedule linear_schedule(double from, double to, int64_t steps) {
  require_steps("linear_schedule", steps);
  return Schedule([=](const Array& step) { return add(from, multiply(to - from, share(step, steps))); });
}

Schedule cosine_decay_schedule(double peak, int64_t steps, double alpha) {
  require_steps("cosine_decay_schedule", steps);
  return Schedule([=](const Array& step) {
    return multiply(peak, add(alpha, multiply(1 - alpha, half_cosine(share(step, steps)))));
  });
}

Schedule warmup_cosine_decay_schedule(double from, double peak, int64_t warmup_steps, int64_t steps, double end) {
  require_steps("warmup_cosine_decay_schedule", warmup_steps);
  require_steps("warmup_cosine_decay_schedule", steps - warmup_steps);
  return Schedule([=](const Array& step) {
    const Array up = add(from, multiply(peak - from, share(step, warmup_steps)));
    const Array down =
        add(end, multiply(peak - end, half_cosine(share(subtract(step, warmup_steps), steps - warmup_steps))));
    return where(less(step, warmup_steps), up, down);
  });
}

Schedule exponential_decay_schedule(double from, int64_t transition_steps, double rate, bool staircase) {
  require_steps("exponential_decay_schedule", transition_steps);
  return Schedule([=](const Array& step) {
    Array exponent = divide(step.astype(DType::kF32), static_cast<double>(transition_steps));
    if (staircase) exponent = floor(exponent);
    return multiply(from, power(rate, exponent));
  });
}

}  // namespace alpa::optim
