#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "alpa/solver/problem.h"

// For tests: a problem with the structure of a training step of a transformer.

namespace alpa::solver::testing {

/// Builds nodes by copying strategy lists of few kinds, as a planner does for repeated layers.
class TransformerBuilder {
 public:
  /// `layers` layers of `chain` ops forward and backward each; every op has a follower or two (elementwise ops).
  TransformerBuilder(int layers, int strategies, uint64_t seed) : random_(seed), strategies_(strategies) {
    for (int k = 0; k < 8; ++k) kinds_.push_back(random_costs(200'000));
    follow_ = add_table(follow_costs(0));
    for (int k = 0; k < 12; ++k) reshards_.push_back(add_table(reshard_costs()));
    build(layers);
  }

  Problem take() { return std::move(problem_); }

 private:
  static constexpr int kOps = 10;       // Matrix products and the like of a layer.
  static constexpr int kFollowers = 8;  // Elementwise ops that follow each.

  int64_t below(int64_t bound) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound)); }

  std::vector<int64_t> random_costs(int64_t most) {
    std::vector<int64_t> costs;
    for (int s = 0; s < strategies_; ++s) costs.push_back(1000 + below(most));
    return costs;
  }

  std::vector<int64_t> follow_costs(int64_t diagonal) const {
    std::vector<int64_t> costs(size_t(strategies_) * strategies_, kForbidden);
    for (int s = 0; s < strategies_; ++s) costs[size_t(s) * strategies_ + s] = diagonal;
    return costs;
  }

  std::vector<int64_t> reshard_costs() {
    std::vector<int64_t> costs;
    // A strategy leaves and wants one of few specs; spec 0 is "replicated", from which every other is a free slice.
    const int64_t bytes_cost = 5000 + below(300'000);
    const int64_t specs = 6;
    std::vector<int64_t> left, wanted;
    for (int s = 0; s < strategies_; ++s) {
      left.push_back(s % specs);
      wanted.push_back((s + s / specs) % specs);
    }
    for (int r = 0; r < strategies_; ++r) {
      for (int c = 0; c < strategies_; ++c) {
        const bool gather = wanted[c] == 0;
        const bool free = left[r] == wanted[c] || left[r] == 0;
        costs.push_back(free ? 0 : gather ? bytes_cost : bytes_cost / (2 + (left[r] + wanted[c]) % 3));
      }
    }
    return costs;
  }

  int32_t add_table(std::vector<int64_t> costs) {
    problem_.tables.push_back({strategies_, strategies_, std::move(costs)});
    return static_cast<int32_t>(problem_.tables.size()) - 1;
  }

  int32_t add_node(int kind) {
    Node node;
    node.costs = kinds_[kind];
    node.begin = static_cast<int64_t>(problem_.nodes.size());
    node.end = node.begin + 4;
    for (int s = 0; s < strategies_; ++s) node.usages.push_back(int64_t(1'000'000) << (s % 4));
    problem_.nodes.push_back(std::move(node));
    return static_cast<int32_t>(problem_.nodes.size()) - 1;
  }

  void link(int32_t from, int32_t to, int32_t table) {
    problem_.edges.push_back({from, to, table});
    problem_.nodes[from].end = std::max(problem_.nodes[from].end, problem_.nodes[to].begin + 1);
  }

  int32_t op_with_followers(int32_t input, int kind, int reshard) {
    const int32_t op = add_node(kind);
    if (input >= 0) link(input, op, reshards_[reshard]);
    int32_t last = op;
    for (int f = 0; f < kFollowers; ++f) {
      const int32_t next = add_node(7);
      link(last, next, follow_);
      last = next;
    }
    return last;
  }

  void build(int layers) {
    std::vector<std::vector<int32_t>> saved;
    std::vector<std::vector<int32_t>> weights;
    int32_t stream = op_with_followers(-1, 0, 0);
    for (int layer = 0; layer < layers; ++layer) {
      saved.emplace_back();
      weights.emplace_back();
      const int32_t residual = stream;
      for (int op = 0; op < kOps; ++op) {
        const int32_t weight = add_node(op % 3);
        stream = op_with_followers(stream, op % 7, op);
        link(weight, stream, reshards_[(op + 5) % 12]);
        if (op >= 3) link(saved.back()[op - 3], stream, reshards_[(op + 8) % 12]);
        saved.back().push_back(stream);
        weights.back().push_back(weight);
      }
      link(residual, stream, reshards_[11]);
    }
    int32_t gradient = stream;
    for (int layer = layers; layer-- > 0;) {
      const int32_t residual = gradient;
      for (int op = kOps; op-- > 0;) {
        gradient = op_with_followers(gradient, op % 7, (op + 3) % 12);
        link(saved[layer][op], gradient, reshards_[op % 12]);
        link(weights[layer][op], gradient, reshards_[(op + 6) % 12]);
        if (op >= 2) link(saved[layer][op - 2], gradient, reshards_[(op + 1) % 12]);
        update(weights[layer][op], saved[layer][op], gradient, op);
      }
      link(residual, gradient, reshards_[10]);
    }
  }

  /// The weight's gradient and its Adam step: moments and the new weight follow the weight.
  void update(int32_t weight, int32_t activation, int32_t gradient, int op) {
    const int32_t product = op_with_followers(activation, op % 7, (op + 7) % 12);
    link(gradient, product, reshards_[(op + 2) % 12]);
    int32_t last = product;
    for (int k = 0; k < 4; ++k) {
      const int32_t moment = add_node(7);
      link(weight, moment, follow_);
      link(last, moment, k == 0 ? reshards_[op % 12] : follow_);
      last = moment;
    }
  }

  std::mt19937_64 random_;
  int32_t strategies_;
  std::vector<std::vector<int64_t>> kinds_;
  int32_t follow_ = 0;
  std::vector<int32_t> reshards_;
  Problem problem_;
};

inline Problem transformer_problem(int layers, int strategies, uint64_t seed) {
  return TransformerBuilder(layers, strategies, seed).take();
}

}  // namespace alpa::solver::testing
