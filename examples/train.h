#pragma once

#include "console.h"
#include "data.h"
#include "options.h"

/// The loop that most examples share.
namespace examples {

/// Trains `params` on batches that `next(random)` gives: `loss(params, batch)` is a scalar. Shows progress and the loss
/// curve. Returns the trained parameters.
template <typename Params, typename Optimizer, typename Loss, typename Next>
Params train(const Options& options, const Params& params, const Optimizer& optimizer, const Loss& loss_of,
             const Next& next, const char* unit, double units_per_step) {
  auto state = alpa::optim::create_train_state(optimizer, params);
  const auto step = [&](const auto& before, const auto& batch) {
    const auto [loss, gradients] =
        alpa::value_and_grad([&](const Params& variables) { return loss_of(variables, batch); })(before.params);
    return std::pair(before.apply_gradients(optimizer, gradients), loss);
  };
  const auto train_step = alpa::parallelize(step, {.method = method(options.method)});
  std::mt19937_64 random(static_cast<uint64_t>(options.seed));
  console::Progress progress(options.steps, unit, units_per_step);
  for (int64_t k = 1; k <= options.steps; ++k) {
    alpa::Array loss;
    std::tie(state, loss) = train_step(std::move(state), next(random));
    progress.show(k, loss.template item<float>());
  }
  console::plot(progress.losses());
  return state.params;
}

}  // namespace examples
