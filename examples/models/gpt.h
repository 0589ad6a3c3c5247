#pragma once

#include "transformer.h"

/// A decoder-only language model with tied embeddings; with experts in every second block, a mixture of experts.
namespace models {

struct GptConfig {
  int64_t vocabulary = 256, sequence = 32, hidden = 64, layers = 4, heads = 8;
  int64_t experts = 0, group = 64;
};

struct GptBlock {
  LayerNorm ln1, ln2;
  Attention attn;
  std::optional<MlpBlock> mlp;
  std::optional<MixtureOfExperts> moe;
  ALPA_PYTREE(ln1, ln2, attn, mlp, moe)
};

struct Gpt {
  Array wte, wpe;  // [V,H], [S,H]
  std::vector<GptBlock> blocks;
  LayerNorm ln_f;
  ALPA_PYTREE(wte, wpe, blocks, ln_f)

  /// s32 [B,S] -> logits [B,S,V] and the experts' auxiliary loss.
  std::pair<Array, Array> operator()(const Array& tokens) const {
    Array x = alpa::take(wte, tokens, 0) + alpa::slice_in_dim(wpe, 0, 0, tokens.dim(1));
    Array aux = 0.0;
    for (const GptBlock& block : blocks) {
      x = x + block.attn(block.ln1(x));
      const Array h = block.ln2(x);
      if (block.moe) {
        const auto [mixed, more] = (*block.moe)(h);
        x = x + mixed;
        aux = aux + more;
      } else {
        x = x + (*block.mlp)(h);
      }
    }
    return {alpa::einsum("bsh,vh->bsv", ln_f(x), wte), aux};
  }
};

inline Gpt init_gpt(const Array& key, const GptConfig& config) {
  const Array keys = alpa::random::split(key, 2 + 2 * config.layers);
  Gpt gpt;
  gpt.wte = alpa::random::normal(key_at(keys, 0), {config.vocabulary, config.hidden}) * 0.02;
  gpt.wpe = alpa::random::normal(key_at(keys, 1), {config.sequence, config.hidden}) * 0.02;
  for (int64_t k = 0; k < config.layers; ++k) {
    GptBlock block{init_layer_norm(config.hidden),
                   init_layer_norm(config.hidden),
                   init_attention(key_at(keys, 2 + 2 * k), config.hidden, config.heads, true),
                   {},
                   {}};
    const Array rest = key_at(keys, 3 + 2 * k);
    if (config.experts > 0 && k % 2 == 1)
      block.moe = init_experts(rest, config.hidden, config.experts, config.group);
    else
      block.mlp = init_mlp_block(rest, config.hidden);
    gpt.blocks.push_back(std::move(block));
  }
  gpt.ln_f = init_layer_norm(config.hidden);
  return gpt;
}

/// Mean cross entropy of the next tokens, plus a hundredth of the experts' auxiliary loss.
inline Array gpt_loss(const Gpt& gpt, const Array& tokens, const Array& labels) {
  const auto [logits, aux] = gpt(tokens);
  return alpa::mean(alpa::softmax_cross_entropy(logits, labels)) + 0.01 * aux;
}

}  // namespace models
