#pragma once

#include <optional>

#include "layers.h"

/// Parts of transformers.
namespace models {

/// Legend: B batch, S sequence, H hidden, A heads, D = H / A, E experts, C capacity, G groups of T tokens.
struct Attention {
  Dense qkv, out;  // H -> 3H, H -> H
  int64_t heads = 1;
  bool causal = false;
  ALPA_PYTREE(qkv, out, heads, causal)

  /// [B,S,H] -> [B,S,H]
  Array operator()(const Array& x) const {
    const int64_t B = x.dim(0), S = x.dim(1), H = x.dim(2), D = H / heads;
    const Array packed = qkv(x).reshape({B, S, 3, heads, D});
    const auto part = [&](int64_t k) { return alpa::squeeze(alpa::slice_in_dim(packed, 2, k, k + 1), {2}); };
    Array scores = alpa::einsum("bqhd,bkhd->bhqk", part(0), part(1)) / std::sqrt(static_cast<double>(D));
    if (causal) scores = alpa::where(alpa::tril(alpa::ones({S, S}, alpa::DType::kPred)), scores, -1e9);
    const Array mixed = alpa::einsum("bhqk,bkhd->bqhd", alpa::softmax(scores), part(2));
    return out(mixed.reshape({B, S, H}));
  }
};

struct MlpBlock {
  Dense fc1, fc2;  // H -> 4H -> H
  ALPA_PYTREE(fc1, fc2)

  Array operator()(const Array& x) const { return fc2(alpa::gelu(fc1(x))); }
};

inline Attention init_attention(const Array& key, int64_t width, int64_t heads, bool causal) {
  const Array keys = alpa::random::split(key);
  return {init_dense(key_at(keys, 0), width, 3 * width), init_dense(key_at(keys, 1), width, width), heads, causal};
}

inline MlpBlock init_mlp_block(const Array& key, int64_t width) {
  const Array keys = alpa::random::split(key);
  return {init_dense(key_at(keys, 0), width, 4 * width), init_dense(key_at(keys, 1), 4 * width, width)};
}

/// Experts of which each token takes the best two, with a capacity each.
/// Source: Lepikhin et al., "GShard", ICLR 2021.
struct MixtureOfExperts {
  Array gate, wi, wo;  // [H,E], [E,H,4H], [E,4H,H]
  int64_t group = 64;
  double capacity_factor = 2.0;
  ALPA_PYTREE(gate, wi, wo, group, capacity_factor)

  /// [B,S,H] -> ([B,S,H], auxiliary loss)
  std::pair<Array, Array> operator()(const Array& input) const {
    const int64_t E = gate.dim(1), T = group, H = input.dim(-1), G = input.size() / (T * H);
    const auto C = static_cast<int64_t>(capacity_factor * static_cast<double>(T) / static_cast<double>(E));
    const Array x = input.reshape({G, T, H});
    const Array gates = alpa::softmax(alpa::einsum("gsm,me->gse", x, gate));
    const Array first = alpa::one_hot(alpa::argmax(gates, -1), E);
    const Array second = alpa::one_hot(alpa::argmax(gates * (1 - first), -1), E);
    const Array aux = alpa::mean(alpa::mean(first, {1}) * alpa::mean(gates, {1})) * (E * E);
    const Array place1 = alpa::cumsum(first, 1) - first;
    const Array place2 = alpa::cumsum(second, 1) - second + alpa::sum(first, {1}, true);
    const Array kept1 = first * (place1 < C), kept2 = second * (place2 < C);
    const Array weight1 = alpa::sum(gates * kept1, {-1}), weight2 = alpa::sum(gates * kept2, {-1});
    const Array total = weight1 + weight2, safe = alpa::where(total > 0, total, 1.0);
    const auto slots = [&](const Array& place, const Array& kept) {
      return alpa::one_hot(alpa::sum(place * kept, {-1}).astype(alpa::DType::kS32), C);
    };
    const Array combine = alpa::einsum("gs,gse,gsc->gsec", weight1 / safe, kept1, slots(place1, kept1)) +
                          alpa::einsum("gs,gse,gsc->gsec", weight2 / safe, kept2, slots(place2, kept2));
    const Array dispatch = (combine > 0).astype(alpa::DType::kF32);
    Array h = alpa::einsum("gsec,gsm->egcm", dispatch, x);
    h = alpa::gelu(alpa::einsum("egcm,emh->egch", h, wi));
    h = alpa::einsum("egch,ehm->egcm", h, wo);
    return {alpa::einsum("gsec,egcm->gsm", combine, h).reshape(input.dims()), aux};
  }
};

inline MixtureOfExperts init_experts(const Array& key, int64_t width, int64_t experts, int64_t group) {
  const Array keys = alpa::random::split(key, 3);
  const double in = 1 / std::sqrt(static_cast<double>(width)), out = in / 2;
  return {alpa::random::normal(key_at(keys, 0), {width, experts}) * in,
          alpa::random::normal(key_at(keys, 1), {experts, width, 4 * width}) * in,
          alpa::random::normal(key_at(keys, 2), {experts, 4 * width, width}) * out, group, 2.0};
}

}  // namespace models
