#pragma once

#include "convolutional.h"
#include "transformer.h"

/// A denoiser of pictures: down, middle, up, with skips and the time step mixed in.
/// Source: Ronneberger et al., "U-Net", MICCAI 2015; Ho et al., "Denoising diffusion probabilistic models", NeurIPS
/// 2020.
namespace models {

struct UnetConfig {
  int64_t channels = 16, heads = 4, image_channels = 4;
};

struct ResBlock {
  GroupNorm n1, n2;
  Conv c1, c2;
  Dense t;
  std::optional<Conv> s;  // where the channels change
  ALPA_PYTREE(n1, n2, c1, c2, t, s)

  Array operator()(const Array& x, const Array& time) const {
    Array h = c1(alpa::silu(n1(x)));
    h = h + alpa::expand_dims(t(alpa::silu(time)), {1, 2});
    h = c2(alpa::silu(n2(h)));
    return h + (s ? (*s)(x) : x);
  }
};

/// Attention between the pixels.
struct PixelAttention {
  GroupNorm norm;
  Attention attn;
  ALPA_PYTREE(norm, attn)

  Array operator()(const Array& h) const {
    const int64_t B = h.dim(0), H = h.dim(1), W = h.dim(2), C = h.dim(3);
    return h + attn(norm(h).reshape({B, H * W, C})).reshape(h.dims());
  }
};

struct Unet {
  Dense t1, t2;
  Conv in, down, up, upt, out;
  ResBlock d1, d2, m0, m1, u2, u1;
  PixelAttention d2a, ma;
  GroupNorm no;
  ALPA_PYTREE(t1, t2, in, down, up, upt, out, d1, d2, m0, m1, u2, u1, d2a, ma, no)

  /// [B,H,W,C] and the time [B] -> the noise [B,H,W,C]
  Array operator()(const Array& x, const Array& time) const {
    const int64_t half = in.kernel.dim(3) / 2;
    const Array rates = alpa::exp(-std::log(1e4) * alpa::arange(half, alpa::DType::kF32) / half);
    const Array angles = alpa::expand_dims(time, {1}) * alpa::expand_dims(rates, {0});
    const Array waves = alpa::concatenate({alpa::sin(angles), alpa::cos(angles)}, -1);
    const Array te = t2(alpa::silu(t1(waves)));
    const Array h0 = in(x);
    const Array h1 = d1(h0, te);
    const Array h3 = d2a(d2(down(h1), te));
    const Array m = m1(ma(m0(h3, te)), te);
    Array u = u2(alpa::concatenate({m, h3}, -1), te);
    u = up(alpa::resize_nearest(u, {u.dim(0), 2 * u.dim(1), 2 * u.dim(2), u.dim(3)}));
    u = alpa::conv_transpose(u, upt.kernel) + *upt.bias;
    u = u1(alpa::concatenate({u, h1, h0}, -1), te);
    return out(alpa::silu(no(u)));
  }
};

inline Unet init_unet(const Array& key, const UnetConfig& config) {
  int64_t drawn = 0;
  const auto next = [&] { return alpa::random::fold_in(key, drawn++); };
  const int64_t C = config.channels, T = 4 * C;
  const auto block = [&](int64_t inputs, int64_t outputs) {
    ResBlock made{init_group_norm(inputs),
                  init_group_norm(outputs),
                  init_conv(next(), 3, inputs, outputs),
                  init_conv(next(), 3, outputs, outputs),
                  init_dense(next(), T, outputs),
                  {}};
    if (inputs != outputs) made.s = init_conv(next(), 1, inputs, outputs);
    return made;
  };
  const auto attention = [&](int64_t width) {
    return PixelAttention{init_group_norm(width), init_attention(next(), width, config.heads, false)};
  };
  Unet net;
  net.t1 = init_dense(next(), C, T);
  net.t2 = init_dense(next(), T, T);
  net.in = init_conv(next(), 3, config.image_channels, C);
  net.down = init_conv(next(), 3, C, C, 2);
  net.up = init_conv(next(), 3, 2 * C, C);
  net.upt = init_conv(next(), 3, C, C);
  net.out = init_conv(next(), 3, C, config.image_channels);
  net.d1 = block(C, C);
  net.d2 = block(C, 2 * C);
  net.m0 = block(2 * C, 2 * C);
  net.m1 = block(2 * C, 2 * C);
  net.u2 = block(4 * C, 2 * C);
  net.u1 = block(3 * C, C);
  net.d2a = attention(2 * C);
  net.ma = attention(2 * C);
  net.no = init_group_norm(C);
  return net;
}

}  // namespace models
