#pragma once

#include "convolutional.h"

/// Residual network of bottlenecks with wide middles.
/// Source: Zagoruyko and Komodakis, "Wide residual networks", BMVC 2016.
namespace models {

struct WideResNetConfig {
  std::vector<int64_t> blocks = {1, 1};
  int64_t channels = 16, width_factor = 2, classes = 16, input_channels = 3;
};

struct BottleneckStatistics {
  Statistics bn1, bn2, bn3;
  std::optional<Statistics> bn_p;
  ALPA_PYTREE(bn1, bn2, bn3, bn_p)
};

struct Bottleneck {
  Conv c1, c2, c3;
  BatchNorm bn1, bn2, bn3;
  std::optional<Conv> cp;  // where the shape changes
  std::optional<BatchNorm> bn_p;
  ALPA_PYTREE(c1, c2, c3, bn1, bn2, bn3, cp, bn_p)

  Array operator()(const Array& x, BottleneckStatistics& running) const {
    Array y = alpa::relu(bn1(c1(x), running.bn1));
    y = alpa::relu(bn2(c2(y), running.bn2));
    y = bn3(c3(y), running.bn3);
    return alpa::relu((cp ? (*bn_p)((*cp)(x), *running.bn_p) : x) + y);
  }
};

struct WideResNetStatistics {
  Statistics bn0;
  std::vector<BottleneckStatistics> blocks;
  ALPA_PYTREE(bn0, blocks)
};

struct WideResNet {
  Conv stem;
  BatchNorm bn0;
  std::vector<Bottleneck> blocks;
  Dense fc;
  ALPA_PYTREE(stem, bn0, blocks, fc)

  /// [B,H,W,3] -> logits [B,classes]; `running` is brought up to date.
  Array operator()(const Array& image, WideResNetStatistics& running) const {
    Array x = alpa::relu(bn0(stem(image), running.bn0));
    x = alpa::max_pool(x, {3, 3}, {2, 2}, "SAME");
    for (size_t k = 0; k < blocks.size(); ++k) x = blocks[k](x, running.blocks[k]);
    return fc(alpa::mean(x, {1, 2}));
  }
};

inline std::pair<WideResNet, WideResNetStatistics> init_wide_resnet(const Array& key, const WideResNetConfig& config) {
  WideResNet net;
  WideResNetStatistics running;
  int64_t drawn = 0;
  const auto next = [&] { return alpa::random::fold_in(key, drawn++); };
  net.stem = init_conv(next(), 3, config.input_channels, config.channels, 1, false);
  net.bn0 = init_batch_norm(config.channels);
  running.bn0 = init_statistics(config.channels);
  int64_t inputs = config.channels;
  for (size_t stage = 0; stage < config.blocks.size(); ++stage) {
    const int64_t ch = config.channels << stage, wide = ch * config.width_factor, outputs = ch * 4;
    for (int64_t b = 0; b < config.blocks[stage]; ++b) {
      const int64_t stride = stage > 0 && b == 0 ? 2 : 1;
      Bottleneck block{init_conv(next(), 1, inputs, ch, 1, false),
                       init_conv(next(), 3, ch, wide, stride, false),
                       init_conv(next(), 1, wide, outputs, 1, false),
                       init_batch_norm(ch),
                       init_batch_norm(wide),
                       init_batch_norm(outputs),
                       {},
                       {}};
      BottleneckStatistics statistics{init_statistics(ch), init_statistics(wide), init_statistics(outputs), {}};
      if (inputs != outputs || stride != 1) {
        block.cp = init_conv(next(), 1, inputs, outputs, stride, false);
        block.bn_p = init_batch_norm(outputs);
        statistics.bn_p = init_statistics(outputs);
      }
      net.blocks.push_back(std::move(block));
      running.blocks.push_back(std::move(statistics));
      inputs = outputs;
    }
  }
  net.fc = init_dense(next(), inputs, config.classes);
  return {std::move(net), std::move(running)};
}

}  // namespace models
