#pragma once

#include "convolutional.h"
#include "transformer.h"

/// Vision transformer: patches of a picture as a sequence, with a token for the class.
/// Source: Dosovitskiy et al., "An image is worth 16x16 words", ICLR 2021.
namespace models {

struct VitConfig {
  int64_t image = 16, channels = 3, patch = 4, hidden = 64, layers = 2, heads = 8, classes = 16;
};

struct VitBlock {
  LayerNorm ln1, ln2;
  Attention attn;
  MlpBlock mlp;
  ALPA_PYTREE(ln1, ln2, attn, mlp)
};

struct Vit {
  Conv embed;
  Array cls, pos;  // [1,1,H], [1,1+patches,H]
  std::vector<VitBlock> blocks;
  LayerNorm ln;
  Dense head;
  ALPA_PYTREE(embed, cls, pos, blocks, ln, head)

  /// [B,H,W,C] -> logits [B,classes]
  Array operator()(const Array& image) const {
    Array x = embed(image);
    const int64_t B = x.dim(0), H = x.dim(3);
    x = x.reshape({B, -1, H});
    x = alpa::concatenate({alpa::broadcast_to(cls, {B, 1, H}), x}, 1) + pos;
    for (const VitBlock& block : blocks) {
      x = x + block.attn(block.ln1(x));
      x = x + block.mlp(block.ln2(x));
    }
    return head(alpa::squeeze(alpa::slice_in_dim(ln(x), 1, 0, 1), {1}));
  }
};

inline Vit init_vit(const Array& key, const VitConfig& config) {
  const auto at = [&](int64_t k) { return alpa::random::fold_in(key, k); };
  const int64_t H = config.hidden, patches = (config.image / config.patch) * (config.image / config.patch);
  Vit vit;
  vit.embed = init_conv(at(0), config.patch, config.channels, H, config.patch, true, "VALID");
  vit.cls = alpa::random::normal(at(1), {1, 1, H}) * 0.02;
  vit.pos = alpa::random::normal(at(2), {1, 1 + patches, H}) * 0.02;
  for (int64_t k = 0; k < config.layers; ++k) {
    vit.blocks.push_back({init_layer_norm(H), init_layer_norm(H), init_attention(at(4 + 2 * k), H, config.heads, false),
                          init_mlp_block(at(5 + 2 * k), H)});
  }
  vit.ln = init_layer_norm(H);
  vit.head = init_dense(at(3), H, config.classes);
  return vit;
}

}  // namespace models
