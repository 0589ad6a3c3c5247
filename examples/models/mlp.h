#pragma once

#include "layers.h"

/// Dense layers with ReLU between them.
namespace models {

struct Mlp {
  std::vector<Dense> fc;
  ALPA_PYTREE(fc)

  Array operator()(Array x) const {
    for (size_t k = 0; k < fc.size(); ++k) {
      x = fc[k](x);
      if (k + 1 < fc.size()) x = alpa::relu(x);
    }
    return x;
  }
};

/// widths: of the input, the hidden layers, the output.
inline Mlp init_mlp(const Array& key, const std::vector<int64_t>& widths) {
  const Array keys = alpa::random::split(key, static_cast<int64_t>(widths.size()) - 1);
  Mlp mlp;
  for (size_t k = 0; k + 1 < widths.size(); ++k)
    mlp.fc.push_back(init_dense(key_at(keys, static_cast<int64_t>(k)), widths[k], widths[k + 1]));
  return mlp;
}

}  // namespace models
