#pragma once

#include "alpa/planner/intra/rule.h"

/// The rules by family of opcodes; inside this room. Each appends the factors of one operation.
namespace alpa::planner {

/// Collects factors; a dim of size 0 or 1 divides nothing and is left out.
class FactorList {
 public:
  explicit FactorList(const RuleRequest& request) : request_(request) {}

  /// A factor over the dims given as (operand, dim) and (result, dim) pairs; its size is the greatest common divisor of
  /// theirs, or `size` where that is smaller.
  struct Dim {
    int index;
    int64_t dim;
  };
  void add(Factor::Kind kind, const std::vector<Dim>& operands, const std::vector<Dim>& results, int64_t size = 0);
  void parallel(const std::vector<Dim>& operands, const std::vector<Dim>& results, int64_t size = 0) {
    add(Factor::Kind::kParallel, operands, results, size);
  }
  void reduction(const std::vector<Dim>& operands, const std::vector<Dim>& results = {}, int64_t size = 0) {
    add(Factor::Kind::kReduction, operands, results, size);
  }
  /// Factors so far.
  int count() const { return static_cast<int>(rule_.factors.size()); }
  /// Keeps the factors [first, end) apart from the one added last, see ShardingRule::apart.
  void keep_apart(int first, int end) {
    for (int factor = first; factor < end; ++factor) rule_.apart.emplace_back(factor, count() - 1);
  }
  ShardingRule take() { return std::move(rule_); }

 private:
  const RuleRequest& request_;
  ShardingRule rule_;
};

ShardingRule elementwise_rule(const RuleRequest& request);

// rules_contraction.cc
ShardingRule dot_rule(const RuleRequest& request);
ShardingRule convolution_rule(const RuleRequest& request);

// rules_movement.cc
ShardingRule broadcast_rule(const RuleRequest& request);
ShardingRule transpose_rule(const RuleRequest& request);
ShardingRule reshape_rule(const RuleRequest& request);
ShardingRule slice_rule(const RuleRequest& request);
ShardingRule pad_rule(const RuleRequest& request);
ShardingRule concatenate_rule(const RuleRequest& request);
ShardingRule reverse_rule(const RuleRequest& request);
ShardingRule iota_rule(const RuleRequest& request);

// rules_reduction.cc
ShardingRule reduce_rule(const RuleRequest& request);
ShardingRule reduce_window_rule(const RuleRequest& request);
ShardingRule select_and_scatter_rule(const RuleRequest& request);
ShardingRule sort_rule(const RuleRequest& request);
ShardingRule matrix_rule(const RuleRequest& request);

// rules_indexing.cc
ShardingRule dynamic_slice_rule(const RuleRequest& request);
ShardingRule dynamic_update_slice_rule(const RuleRequest& request);
ShardingRule gather_rule(const RuleRequest& request);
ShardingRule scatter_rule(const RuleRequest& request);

/// True if a reducer is one operation of its two parameters whose identity is `init`: parts may be combined by it
/// again.
bool is_plain_reducer(const RuleRequest& request, hlo::InstructionId init);
/// The same without an initial value to look at.
bool is_combiner(const RuleRequest& request, hlo::ComputationId reducer);

}  // namespace alpa::planner
