#include "alpa/frontend/ops/activation.h"

#include <cmath>

#include "alpa/base/error.h"
#include "alpa/frontend/node.h"
#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/ops/elementwise_rules.h"
#include "alpa/frontend/ops/reduction.h"
#include "alpa/frontend/ops/shape.h"
#include "alpa/frontend/promotion.h"

namespace alpa {
namespace {

using frontend::floating;

// x less its largest element along a dim, which derivatives need not know of.
Array shifted(const ArrayLike& x, int dim) {
  if (x.array.dim(dim) == 0) return x.array;
  return subtract(x, stop_gradient(max(x, {dim}, true)));
}

}  // namespace

Array relu(const ArrayLike& x) {
  // The derivative at 0 is 0, as JAX has it; NaN stays.
  return where(less_equal(x, 0), zeros_like(x), x);
}

Array relu6(const ArrayLike& x) {
  const Array rising = where(less_equal(x, 0), zeros_like(x), x);
  return where(greater_equal(x, 6), full_like(x, 6), rising);
}

Array hard_tanh(const ArrayLike& x) {
  return where(greater(x, 1), full_like(x, 1), where(less(x, -1), full_like(x, -1), x));
}

Array silu(const ArrayLike& x) { return multiply(floating(x), sigmoid(x)); }

Array gelu(const ArrayLike& x, bool approximate) {
  const ArrayLike f = floating(x);
  if (!approximate) return multiply(f, multiply(0.5, add(1, erf(divide(f, std::sqrt(2.0))))));
  const Array inner = multiply(std::sqrt(2 / M_PI), add(f, multiply(0.044715, multiply(multiply(f, f), f))));
  return multiply(f, multiply(0.5, add(1, tanh(inner))));
}

Array elu(const ArrayLike& x, double alpha) {
  const ArrayLike f = floating(x);
  const Array positive = greater(f, 0);
  return where(positive, f, multiply(alpha, expm1(where(positive, zeros_like(f), f))));
}

Array selu(const ArrayLike& x) {
  return multiply(1.0507009873554804934193349852946, elu(x, 1.6732632423543772848170429916717));
}

Array mish(const ArrayLike& x) { return multiply(floating(x), tanh(softplus(x))); }

Array leaky_relu(const ArrayLike& x, double slope) {
  const ArrayLike f = floating(x);
  return where(greater_equal(f, 0), f, multiply(slope, f));
}

Array softplus(const ArrayLike& x) { return logaddexp(floating(x), 0); }

Array log_sigmoid(const ArrayLike& x) { return negate(softplus(negate(floating(x)))); }

Array softmax(const ArrayLike& x, int dim) {
  frontend::normal_dim("softmax", dim, x.array.shape(), x.where);
  const Array e = exp(shifted(floating(x), dim));
  return divide(e, sum(e, {dim}, true));
}

Array log_softmax(const ArrayLike& x, int dim) {
  frontend::normal_dim("log_softmax", dim, x.array.shape(), x.where);
  const Array s = shifted(floating(x), dim);
  return subtract(s, log(sum(exp(s), {dim}, true)));
}

Array layer_norm(const ArrayLike& x, const ArrayLike& scale, const ArrayLike& bias, double epsilon) {
  frontend::normal_dim("layer_norm", -1, x.array.shape(), x.where);
  const Dims dims = frontend::broadcast_dims("layer_norm", {x.array, scale.array, bias.array}, x.where);
  require<InvalidArgumentError>(dims == x.array.dims(), "layer_norm", "scale {} and bias {} at {} do not fit {}",
                                tensor::to_string(scale.array.shape()), tensor::to_string(bias.array.shape()),
                                frontend::to_string(x.where), tensor::to_string(x.array.shape()));
  const DType dtype = x.array.dtype();
  const ArrayLike f(x.array.astype(dtype == DType::kF64 ? dtype : DType::kF32), x.where);
  const Array average = mean(f, {-1}, true);
  const Array spread = maximum(subtract(mean(square(f), {-1}, true), square(average)), 0);
  const Array factor = multiply(rsqrt(add(spread, epsilon)), scale);
  return add(multiply(subtract(f, average), factor), bias).astype(dtype);
}

Array softmax_cross_entropy(const ArrayLike& logits, const ArrayLike& labels) {
  const ArrayLike f = floating(logits);
  const int64_t classes = f.array.dim(-1);
  const Array hit = one_hot(labels, classes, f.array.dtype());
  require<InvalidArgumentError>(hit.dims() == f.array.dims(), "softmax_cross_entropy",
                                "logits {} and labels {} at {} do not fit", tensor::to_string(logits.array.shape()),
                                tensor::to_string(labels.array.shape()), frontend::to_string(logits.where));
  // Chosen, not multiplied: a class that is ruled out has the logit -inf.
  return subtract(logsumexp(f, {-1}), sum(where(hit, f, 0), {-1}));
}

}  // namespace alpa
