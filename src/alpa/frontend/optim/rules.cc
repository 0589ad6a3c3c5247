#include "alpa/frontend/optim/rules.h"

#include "alpa/base/error.h"
#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/ops/reduction.h"

namespace alpa::optim {
namespace {

constexpr int64_t kLargestCount = 2147483647;

bool applies(const Mask& mask, const Flat& flat, size_t k) { return !mask || mask(flat.paths[k], flat.params[k]); }

// mu / (1 - b1^t) / (sqrt(nu / (1 - b2^t)) + eps), with both moments brought up to date.
FlatUpdate adam_direction(const Flat& flat, double b1, double b2, double eps) {
  FlatUpdate next;
  next.slots.resize(2);
  const Array step = next_count(flat.count).astype(DType::kF32);
  const Array first_bias = subtract(1, power(b1, step)), second_bias = subtract(1, power(b2, step));
  for (size_t k = 0; k < flat.gradients.size(); ++k) {
    const Array& g = flat.gradients[k];
    const Array mu = add(multiply(1 - b1, g), multiply(b1, flat.slots[0][k]));
    const Array nu = add(multiply(1 - b2, multiply(g, g)), multiply(b2, flat.slots[1][k]));
    const DType dtype = g.dtype();
    const Array mean = divide(mu, first_bias.astype(dtype)), spread = divide(nu, second_bias.astype(dtype));
    next.updates.push_back(divide(mean, add(sqrt(spread), eps)));
    next.slots[0].push_back(mu);
    next.slots[1].push_back(nu);
  }
  return next;
}

void scale_down(FlatUpdate& next, const Schedule& learning_rate, const Array& count) {
  const Array rate = negate(learning_rate.at(count));
  for (Array& update : next.updates) {
    const DType dtype = update.dtype();
    update = multiply(rate.is_weak() ? rate : rate.astype(dtype), update);
  }
}

void decay(FlatUpdate& next, const Flat& flat, double weight_decay, const Mask& mask) {
  if (weight_decay == 0) return;
  for (size_t k = 0; k < next.updates.size(); ++k) {
    if (applies(mask, flat, k)) next.updates[k] = add(next.updates[k], multiply(weight_decay, flat.params[k]));
  }
}

}  // namespace

void require_fit(const Flat& flat, size_t num_slots) {
  require<InvalidArgumentError>(flat.slots.size() == num_slots, "optim",
                                "a state of {} trees for an optimizer that keeps {}: it is the state of another one",
                                flat.slots.size(), num_slots);
  for (size_t k = 0; k < flat.gradients.size(); ++k)
    require<InvalidArgumentError>(
        flat.gradients[k].dims() == flat.params[k].dims(), "optim", "the gradient of {} is {}, the parameter {}",
        flat.paths[k], tensor::to_string(flat.gradients[k].shape()), tensor::to_string(flat.params[k].shape()));
}

Array zero_count() { return full({}, 0, DType::kS32); }

Array next_count(const Array& count) {
  return where(less(count, kLargestCount), add(count, 1), full({}, static_cast<double>(kLargestCount), DType::kS32));
}

Array zeros_of(const Array& parameter) { return zeros_like(parameter); }

Array global_norm(const std::vector<Array>& arrays) {
  Array total;
  for (const Array& array : arrays) {
    const Array part = sum(square(array.dtype() == DType::kF64 ? array : array.astype(DType::kF32)));
    total = total.defined() ? add(total, part) : part;
  }
  require<InvalidArgumentError>(total.defined(), "global_norm", "there are no arrays");
  return sqrt(total);
}

Array applied(const Array& parameter, const Array& update) {
  require<InvalidArgumentError>(parameter.dims() == update.dims(), "apply_updates", "an update {} for a parameter {}",
                                tensor::to_string(update.shape()), tensor::to_string(parameter.shape()));
  return add(parameter, update.astype(parameter.dtype()));
}

FlatUpdate ClipByGlobalNorm::update(const Flat& flat) const {
  const Array norm = global_norm(flat.gradients);
  const Array within = less(norm, max_norm);
  FlatUpdate next;
  for (const Array& g : flat.gradients) {
    const Array scaled = multiply(divide(g, norm.astype(g.dtype())), max_norm);
    next.updates.push_back(where(within, g, scaled));
  }
  return next;
}

FlatUpdate ClipElements::update(const Flat& flat) const {
  FlatUpdate next;
  for (const Array& g : flat.gradients) next.updates.push_back(alpa::clip(g, -limit, limit));
  return next;
}

FlatUpdate DecayedWeights::update(const Flat& flat) const {
  FlatUpdate next{flat.gradients, {}};
  optim::decay(next, flat, decay, mask);
  return next;
}

FlatUpdate Sgd::update(const Flat& flat) const {
  FlatUpdate next;
  next.slots.resize(num_slots());
  for (size_t k = 0; k < flat.gradients.size(); ++k) {
    const Array& g = flat.gradients[k];
    const Array velocity = momentum == 0 ? g : add(g, multiply(momentum, flat.slots[0][k]));
    if (momentum != 0) next.slots[0].push_back(velocity);
    next.updates.push_back(nesterov ? add(g, multiply(momentum, velocity)) : velocity);
  }
  scale_down(next, learning_rate, flat.count);
  return next;
}

FlatUpdate Adam::update(const Flat& flat) const {
  FlatUpdate next = adam_direction(flat, b1, b2, eps);
  scale_down(next, learning_rate, flat.count);
  return next;
}

FlatUpdate AdamW::update(const Flat& flat) const {
  FlatUpdate next = adam_direction(flat, b1, b2, eps);
  decay(next, flat, weight_decay, mask);
  scale_down(next, learning_rate, flat.count);
  return next;
}

FlatUpdate Lamb::update(const Flat& flat) const {
  FlatUpdate next = adam_direction(flat, b1, b2, eps);
  decay(next, flat, weight_decay, mask);
  for (size_t k = 0; k < next.updates.size(); ++k) {
    const Array of_param = global_norm({flat.params[k]}), of_update = global_norm({next.updates[k]});
    const Array usable = logical_and(greater(of_param, 0), greater(of_update, 0));
    const Array ratio = where(usable, divide(of_param, where(usable, of_update, 1.0)), 1.0);
    next.updates[k] = multiply(ratio.astype(next.updates[k].dtype()), next.updates[k]);
  }
  scale_down(next, learning_rate, flat.count);
  return next;
}

}  // namespace alpa::optim
