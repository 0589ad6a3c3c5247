#pragma once

#include <functional>
#include <string>
#include <vector>

#include "alpa/frontend/optim/schedule.h"

/// The arithmetic of the optimizers, on lists of arrays.
namespace alpa::optim {

Array zero_count();
/// One more; stays at the largest number.
Array next_count(const Array& count);
Array zeros_of(const Array& parameter);
/// Square root of the sum of all squares.
Array global_norm(const std::vector<Array>& arrays);
/// parameter + update, in the parameter's element type.
Array applied(const Array& parameter, const Array& update);

/// What a rule is given: one entry a parameter in each list.
struct Flat {
  std::vector<Array> gradients;
  std::vector<Array> params;
  std::vector<std::vector<Array>> slots;  ///< By slot.
  Array count;                            ///< Steps done before this one.
  std::vector<std::string> paths;         ///< Key paths of the parameters.
};
struct FlatUpdate {
  std::vector<Array> updates;
  std::vector<std::vector<Array>> slots;
};

/// Which parameters a rule applies to, by key path and array; empty: all.
using Mask = std::function<bool(const std::string& path, const Array& parameter)>;

/// Errors: InvalidArgumentError if the state is not that of an optimizer with so many slots, or a gradient is not of
/// its parameter's shape.
void require_fit(const Flat& flat, size_t num_slots);

/// Slots of a rule: `kSlots`, zeros like the parameters, unless it has functions of its own.
template <typename Rule>
size_t num_slots(const Rule& rule) {
  if constexpr (requires { rule.num_slots(); })
    return rule.num_slots();
  else
    return Rule::kSlots;
}
template <typename Rule>
Array initial_slot(const Rule& rule, size_t slot, const Array& parameter) {
  if constexpr (requires { rule.initial(slot, parameter); })
    return rule.initial(slot, parameter);
  else
    return zeros_of(parameter);
}

struct ClipByGlobalNorm {
  static constexpr size_t kSlots = 0;
  double max_norm;
  FlatUpdate update(const Flat& flat) const;
};

struct ClipElements {
  static constexpr size_t kSlots = 0;
  double limit;
  FlatUpdate update(const Flat& flat) const;
};

struct DecayedWeights {
  static constexpr size_t kSlots = 0;
  double decay;
  Mask mask;
  FlatUpdate update(const Flat& flat) const;
};

/// velocity = momentum * velocity + g;  update = -learning_rate * velocity (nesterov: g + momentum * velocity).
struct Sgd {
  Schedule learning_rate = 1e-2;
  double momentum = 0;
  bool nesterov = false;
  size_t num_slots() const { return momentum == 0 ? 0 : 1; }
  FlatUpdate update(const Flat& flat) const;
};

/// Source: Kingma and Ba, "Adam", ICLR 2015.
struct Adam {
  static constexpr size_t kSlots = 2;
  Schedule learning_rate = 1e-3;
  double b1 = 0.9, b2 = 0.999, eps = 1e-8;
  FlatUpdate update(const Flat& flat) const;
};

/// Source: Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019.
struct AdamW {
  static constexpr size_t kSlots = 2;
  Schedule learning_rate = 1e-3;
  double b1 = 0.9, b2 = 0.999, eps = 1e-8, weight_decay = 1e-4;
  Mask mask = {};  ///< Of the decay.
  FlatUpdate update(const Flat& flat) const;
};

/// Source: You et al., "Large batch optimization for deep learning", ICLR 2020.
struct Lamb {
  static constexpr size_t kSlots = 2;
  Schedule learning_rate = 1e-3;
  double b1 = 0.9, b2 = 0.999, eps = 1e-6, weight_decay = 0;
  Mask mask = {};
  FlatUpdate update(const Flat& flat) const;
};

/// Adam's second moment of a matrix held as its rows' and columns' means: for dims of at least
/// `min_dim_size_to_factor`. Source: Shazeer and Stern, "Adafactor", ICML 2018; defaults of the public optax library.
struct Adafactor {
  Schedule learning_rate = 1e-3;
  int64_t min_dim_size_to_factor = 128;
  double decay_rate = 0.8;
  double clipping_threshold = 1.0;  ///< Of the root mean square of an update.
  bool multiply_by_parameter_scale = true;
  double eps = 1e-30;
  size_t num_slots() const { return 3; }
  /// Slot 0 and 1: means over the last and the second largest dim; 2: the whole. What is not used is one zero.
  Array initial(size_t slot, const Array& parameter) const;
  FlatUpdate update(const Flat& flat) const;
};

}  // namespace alpa::optim
