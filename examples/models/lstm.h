#pragma once

#include <map>
#include <string>

#include "layers.h"

/// A language model of stacked long short-term memories.
/// Source: Hochreiter and Schmidhuber, "Long short-term memory", Neural Computation, 1997.
namespace models {

struct LstmConfig {
  int64_t vocabulary = 128, hidden = 64, layers = 2;
};

/// What a cell remembers.
struct LstmMemory {
  Array c, h;  // [B,H]
  ALPA_PYTREE(c, h)
};

/// One kernel a gate: input, forget, cell, output; of the input without a bias, of the state with one.
struct LstmCell {
  std::map<std::string, Array> input;  // "i", "f", "g", "o": [I,H]
  std::map<std::string, Dense> state;  // [H,H]
  ALPA_PYTREE(input, state)

  /// [B,S,I] -> [B,S,H]
  Array operator()(const Array& x) const {
    const int64_t B = x.dim(0), H = state.at("i").kernel.dim(0);
    // The four gates at once.
    std::vector<Array> inputs, kernels, biases;
    for (const char* gate : {"i", "f", "g", "o"}) {
      inputs.push_back(input.at(gate));
      kernels.push_back(state.at(gate).kernel);
      biases.push_back(state.at(gate).bias);
    }
    const Array of_input = alpa::concatenate(inputs, 1), of_state = alpa::concatenate(kernels, 1);
    const Array bias = alpa::concatenate(biases, 0);
    const auto step = [&](const LstmMemory& memory, const Array& xt) {
      const Array gates = alpa::matmul(xt, of_input) + alpa::matmul(memory.h, of_state) + bias;
      const std::vector<Array> parts = alpa::split(gates, 4, 1);
      const Array c = alpa::sigmoid(parts[1]) * memory.c + alpa::sigmoid(parts[0]) * alpa::tanh(parts[2]);
      const Array h = alpa::sigmoid(parts[3]) * alpa::tanh(c);
      return std::pair(LstmMemory{c, h}, h);
    };
    const Array zero = alpa::zeros({B, H}, x.dtype());
    const auto [last, outputs] = alpa::scan(step, LstmMemory{zero, zero}, alpa::swapaxes(x, 0, 1));
    return alpa::swapaxes(outputs, 0, 1);
  }
};

struct LstmModel {
  Array embedding;  // [V,H]
  std::vector<LstmCell> cells;
  Dense out;
  ALPA_PYTREE(embedding, cells, out)

  /// s32 [B,S] -> logits [B,S,V]
  Array operator()(const Array& tokens) const {
    Array x = alpa::take(embedding, tokens, 0);
    for (const LstmCell& cell : cells) x = cell(x);
    return out(x);
  }
};

inline LstmModel init_lstm(const Array& key, const LstmConfig& config) {
  int64_t drawn = 0;
  const auto next = [&] { return alpa::random::fold_in(key, drawn++); };
  LstmModel model;
  const int64_t H = config.hidden;
  model.embedding = alpa::random::normal(next(), {config.vocabulary, H}) / std::sqrt(static_cast<double>(H));
  for (int64_t k = 0; k < config.layers; ++k) {
    LstmCell cell;
    for (const char* gate : {"i", "f", "g", "o"}) {
      cell.input[gate] = init_dense(next(), H, H).kernel;
      cell.state[gate] = init_dense(next(), H, H);
    }
    model.cells.push_back(std::move(cell));
  }
  model.out = init_dense(next(), H, config.vocabulary);
  return model;
}

}  // namespace models
