#include <algorithm>
#include <optional>

#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/ops/reduction.h"
#include "alpa/frontend/ops/shape.h"
#include "alpa/frontend/optim/rules.h"

namespace alpa::optim {
namespace {

/// The two largest dims, the smaller one first; empty if it is too small to factor.
std::optional<std::pair<int, int>> factored_dims(const Array& parameter, int64_t least) {
  if (parameter.rank() < 2) return std::nullopt;
  std::vector<int> order;
  for (int dim = 0; dim < parameter.rank(); ++dim) order.push_back(dim);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return parameter.dim(a) < parameter.dim(b); });
  const int second = order[order.size() - 2], first = order.back();
  if (parameter.dim(second) < least) return std::nullopt;
  return std::pair(second, first);
}

Dims without(const Array& parameter, int dim) {
  Dims dims = parameter.dims();
  dims.erase(dims.begin() + dim);
  return dims;
}

Array root_mean_square(const Array& x) { return sqrt(mean(square(x))); }

}  // namespace

Array Adafactor::initial(size_t slot, const Array& parameter) const {
  const auto dims = factored_dims(parameter, min_dim_size_to_factor);
  if (dims && slot == 0) return zeros(without(parameter, dims->second), parameter.dtype());
  if (dims && slot == 1) return zeros(without(parameter, dims->first), parameter.dtype());
  if (!dims && slot == 2) return zeros_like(parameter);
  return zeros({1}, parameter.dtype());
}

FlatUpdate Adafactor::update(const Flat& flat) const {
  FlatUpdate next;
  next.slots = flat.slots;
  const Array step = add(flat.count.astype(DType::kF32), 1);
  const Array decay = subtract(1, power(step, -decay_rate));
  for (size_t k = 0; k < flat.gradients.size(); ++k) {
    const Array& g = flat.gradients[k];
    const Array& parameter = flat.params[k];
    const Array keep = decay.astype(g.dtype()), fresh = subtract(1, keep);
    const Array squared = add(square(g), eps);
    Array update;
    if (const auto dims = factored_dims(parameter, min_dim_size_to_factor)) {
      const auto [second, first] = *dims;
      const Array row = add(multiply(keep, flat.slots[0][k]), multiply(fresh, mean(squared, {first})));
      const Array col = add(multiply(keep, flat.slots[1][k]), multiply(fresh, mean(squared, {second})));
      next.slots[0][k] = row;
      next.slots[1][k] = col;
      const int reduced = second > first ? second - 1 : second;
      const Array row_factor = rsqrt(divide(row, mean(row, {reduced}, true)));
      update = multiply(multiply(g, expand_dims(row_factor, {first})), expand_dims(rsqrt(col), {second}));
    } else {
      const Array whole = add(multiply(keep, flat.slots[2][k]), multiply(fresh, squared));
      next.slots[2][k] = whole;
      update = multiply(g, rsqrt(whole));
    }
    update = divide(update, maximum(1.0, divide(root_mean_square(update), clipping_threshold)));
    update = multiply(update, learning_rate.at(flat.count));
    if (multiply_by_parameter_scale) update = multiply(update, maximum(root_mean_square(parameter), 1e-3));
    next.updates.push_back(negate(update));
  }
  return next;
}

}  // namespace alpa::optim
