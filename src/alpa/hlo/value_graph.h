#pragma once

#include <cstdint>
#include <vector>

#include "alpa/hlo/module.h"

namespace alpa::hlo {

using ValueId = int32_t;
using NodeId = int32_t;

/// One array of the program: tuples are seen through, a loop's carried element is one value inside and outside of it.
struct Value {
  tensor::Shape shape;
  NodeId producer = 0;
  int result = 0;  ///< Which of the producer's results.
};

/// What makes values.
struct Node {
  enum class Kind {
    kOperation,  ///< An instruction that computes its results from its operands.
    kInput,      ///< A parameter of the entry.
    kCarry,      ///< An element of a loop's tuple.
    kBranch,     ///< An element of a conditional branch's parameter.
    kJoin,       ///< An element of a conditional's result.
  };
  Kind kind = Kind::kOperation;
  ComputationId computation = 0;
  InstructionId instruction = 0;
  int leaf = 0;  ///< Of an opt-barrier, a carry, branch or join: which array of the tuple.
  int branch = 0;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  double executions = 1;  ///< A step; loops by their trip counts.
};

/// A value that becomes another, which has a placement of its own: loop and branch borders.
struct Tie {
  ValueId from = 0;
  ValueId to = 0;
  double executions = 1;
  ComputationId computation = 0;  ///< Where `from` is defined and a change of its placement would be made.
};

/// The dataflow of a program between arrays, its loops and branches flattened into one list, operands first.
struct ValueGraph {
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<Tie> ties;
  std::vector<ValueId> inputs;   ///< Of the entry, by parameter number.
  std::vector<ValueId> outputs;  ///< Arrays of the entry's root.
  /// leaves[computation][instruction]: the arrays that the instruction's result consists of, in order.
  std::vector<std::vector<std::vector<ValueId>>> leaves;
  int64_t unknown_trip_counts = 0;  ///< Loops counted once.
};

/// Needs a module without calls whose loops and branches do not share computations, see inline_calls.
/// Errors: UnsupportedError that names the instruction: tuple-shaped entry parameters, collectives, communication with
/// the host, dynamic shapes.
ValueGraph build_value_graph(const Module& module);

/// True if a value costs nothing to make in any placement: iota, or a scalar made larger.
bool is_generator(const Module& module, const ValueGraph& graph, NodeId node);

/// Number of arrays in a shape: 1 for an array, 0 for an empty tuple.
int leaf_count(const tensor::Shape& shape);

}  // namespace alpa::hlo
