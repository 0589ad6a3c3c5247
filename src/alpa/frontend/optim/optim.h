#pragma once

#include <tuple>
#include <utility>
#include <vector>

#include "alpa/frontend/optim/rules.h"
#include "alpa/frontend/optim/schedule.h"
#include "alpa/frontend/pytree.h"

/// Optimizers as transformations of gradients, which compose with `chain`:
///
///   auto optimizer = optim::chain(optim::clip_by_global_norm(1.0), optim::adamw({.learning_rate = 1e-3}));
///   auto opt_state = optimizer.init(params);
///   auto [updates, next] = optimizer.update(gradients, opt_state, params);
///   params = optim::apply_updates(params, updates);
///
/// The state is a pytree; what is applied is added to the parameters (so updates point downhill).
namespace alpa::optim {

/// The state of a transformation: trees like the parameters (their arrays may have other shapes) and a step counter.
template <typename Params>
struct SlotState {
  Array count;  ///< s32: steps done.
  std::vector<Params> slots;
  ALPA_PYTREE(count, slots)
};

template <typename Rule>
class Transformation {
 public:
  explicit Transformation(Rule rule) : rule_(std::move(rule)) {}

  template <typename Params>
  SlotState<Params> init(const Params& params) const {
    SlotState<Params> state;
    state.count = zero_count();
    for (size_t k = 0; k < num_slots(rule_); ++k)
      state.slots.push_back(tree_map(params, [&](const Array& p) { return initial_slot(rule_, k, p); }));
    return state;
  }

  /// Updates and the next state. Errors: InvalidArgumentError if the trees differ in structure.
  template <typename Params>
  std::pair<Params, SlotState<Params>> update(const Params& gradients, const SlotState<Params>& state,
                                              const Params& params) const {
    frontend::require_same_structure(tree_structure(params), tree_structure(gradients));
    Flat flat{tree_leaves(gradients), tree_leaves(params), {}, state.count, tree_paths(params)};
    for (const Params& slot : state.slots) {
      frontend::require_same_structure(tree_structure(params), tree_structure(slot));
      flat.slots.push_back(tree_leaves(slot));
    }
    require_fit(flat, num_slots(rule_));
    FlatUpdate next = rule_.update(flat);
    SlotState<Params> next_state = state;
    next_state.count = next_count(state.count);
    for (size_t k = 0; k < state.slots.size(); ++k) next_state.slots[k] = tree_rebuild(state.slots[k], next.slots[k]);
    return {tree_rebuild(gradients, next.updates), std::move(next_state)};
  }

 private:
  Rule rule_;
};

/// Several transformations, each on what the one before gives.
template <typename... Parts>
class Chain {
 public:
  explicit Chain(Parts... parts) : parts_(std::move(parts)...) {}

  template <typename Params>
  auto init(const Params& params) const {
    return std::apply([&](const Parts&... part) { return std::make_tuple(part.init(params)...); }, parts_);
  }

  template <typename Params, typename... States>
  std::pair<Params, std::tuple<States...>> update(const Params& gradients, const std::tuple<States...>& states,
                                                  const Params& params) const {
    Params updates = gradients;
    std::tuple<States...> next = states;
    [&]<size_t... Index>(std::index_sequence<Index...>) {
      ((std::tie(updates, std::get<Index>(next)) =
            std::get<Index>(parts_).update(updates, std::get<Index>(states), params)),
       ...);
    }(std::index_sequence_for<Parts...>());
    return {std::move(updates), std::move(next)};
  }

 private:
  std::tuple<Parts...> parts_;
};

template <typename... Parts>
Chain<Parts...> chain(Parts... parts) {
  return Chain<Parts...>(std::move(parts)...);
}

/// Gradients scaled down so that the norm of all together is at most `max_norm`.
inline auto clip_by_global_norm(double max_norm) { return Transformation(ClipByGlobalNorm{max_norm}); }
/// Each element of each gradient cut to [-limit, limit].
inline auto clip(double limit) { return Transformation(ClipElements{limit}); }
/// decay * parameter added to each gradient that the mask chooses.
inline auto add_decayed_weights(double decay, Mask mask = {}) {
  return Transformation(DecayedWeights{decay, std::move(mask)});
}
inline auto adafactor(Adafactor options) { return Transformation(std::move(options)); }
inline auto sgd(Sgd options) { return Transformation(std::move(options)); }
inline auto adam(Adam options) { return Transformation(std::move(options)); }
/// Adam with decay of the weights themselves.
inline auto adamw(AdamW options) { return Transformation(std::move(options)); }
/// Adam scaled for each array by its norm over that of its update.
inline auto lamb(Lamb options) { return Transformation(std::move(options)); }

/// params + updates, in the parameters' element types.
template <typename Params>
Params apply_updates(const Params& params, const Params& updates) {
  return tree_map2(params, updates, [](const Array& p, const Array& u) { return applied(p, u); });
}

/// Parameters, optimizer's state and steps done, donated to a parallelized step.
template <typename Params, typename OptState>
struct TrainState {
  Params params;
  OptState opt_state;
  Array step;
  ALPA_STATE(params, opt_state, step)

  /// The next state.
  template <typename Optimizer>
  TrainState apply_gradients(const Optimizer& optimizer, const Params& gradients) const {
    auto [updates, next] = optimizer.update(gradients, opt_state, params);
    return {apply_updates(params, updates), std::move(next), next_count(step)};
  }
};

template <typename Optimizer, typename Params>
auto create_train_state(const Optimizer& optimizer, const Params& params) {
  auto opt_state = optimizer.init(params);
  return TrainState<Params, decltype(opt_state)>{params, std::move(opt_state), zero_count()};
}

}  // namespace alpa::optim
