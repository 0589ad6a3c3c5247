#pragma once

#include "alpa/frontend/array.h"

/// Functions of neural networks.
namespace alpa {

Array relu(const ArrayLike& x);
/// min(max(x, 0), 6).
Array relu6(const ArrayLike& x);
/// min(max(x, -1), 1).
Array hard_tanh(const ArrayLike& x);
/// x * sigmoid(x).
Array silu(const ArrayLike& x);
/// x * Phi(x); with `approximate` by tanh, JAX's default.
Array gelu(const ArrayLike& x, bool approximate = true);
Array elu(const ArrayLike& x, double alpha = 1.0);
/// elu scaled so that it keeps mean 0 and variance 1. Source: Klambauer et al., "Self-normalizing neural networks",
/// 2017.
Array selu(const ArrayLike& x);
/// x * tanh(softplus(x)).
Array mish(const ArrayLike& x);
Array leaky_relu(const ArrayLike& x, double slope = 0.01);
/// log(1 + exp(x)).
Array softplus(const ArrayLike& x);
/// log(sigmoid(x)).
Array log_sigmoid(const ArrayLike& x);
Array softmax(const ArrayLike& x, int dim = -1);
Array log_softmax(const ArrayLike& x, int dim = -1);
/// (x - mean) / sqrt(variance + epsilon) over the last dim, in f32, then times scale plus bias.
/// **Shapes**: [..., H], [H], [H] -> [..., H].
Array layer_norm(const ArrayLike& x, const ArrayLike& scale, const ArrayLike& bias, double epsilon = 1e-5);
/// Cross entropy of each row of logits with the class that its label names.
/// **Shapes**: [..., C], s32 [...] -> [...].
Array softmax_cross_entropy(const ArrayLike& logits, const ArrayLike& labels);

}  // namespace alpa
