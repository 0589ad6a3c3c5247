#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "alpa/hlo/module.h"
#include "alpa/tensor/shape.h"

namespace alpa::planner {

/// One loop of an operation's iteration space, and the dim of each operand and result that it runs over (-1: none).
struct Factor {
  enum class Kind {
    kParallel,   ///< Each device computes its part, nothing is exchanged.
    kReduction,  ///< Each device makes an addend of the results; an all-reduce of every result follows.
  };
  Kind kind = Kind::kParallel;
  int64_t size = 1;  ///< What the number of parts must divide.
  std::vector<int> operand_dims;
  std::vector<int> result_dims;
};

/// How an operation may be divided over devices: any mesh axis over at most one factor. Dims that no factor runs over
/// stay whole. Only what the partitioner is known to do rightly and with the bytes predicted is a factor (property test
/// over single operations).
struct ShardingRule {
  std::vector<Factor> factors;
  /// Pairs of factors that are divided together only if no axis is left to hold copies: the partitioner exchanges
  /// devices' parts otherwise.
  std::vector<std::pair<int, int>> apart;
};

/// An operation with the arrays that it takes and makes, tuples flattened.
struct RuleRequest {
  const hlo::Module& module;
  const hlo::Computation& computation;
  const hlo::Instruction& instruction;
  std::vector<tensor::Shape> operands;
  std::vector<tensor::Shape> results;
};

/// The rule of an operation; no factors (all operands whole, everywhere computed) where none is known.
ShardingRule sharding_rule(const RuleRequest& request);

}  // namespace alpa::planner
