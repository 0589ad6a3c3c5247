#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alpa/cost/collective_model.h"
#include "alpa/cost/reshard_model.h"
#include "alpa/hlo/value_graph.h"
#include "alpa/planner/intra/device_program.h"
#include "alpa/planner/intra/strategy.h"
#include "alpa/sharding/spec_pattern.h"
#include "alpa/solver/solve.h"

namespace alpa::planner {

/// An output that is an input of the next step: it must end up where that input is.
struct Feed {
  int output = 0;
  int input = 0;
  double executions = 1;
  bool accumulates = false;  ///< The output adds to the input, an accumulator over micro-batches.
};

/// What is asked of where the first result of a node lies.
struct Pin {
  hlo::NodeId node = 0;
  sharding::SpecPattern pattern;
};

/// Into how many parts an input must be divided.
enum class Division {
  kFree,  ///< Any number.
  kSome,  ///< More than one, if some strategy divides it.
  kMost,  ///< As many as can be.
};

enum class Search {
  kOptimize,   ///< Minimise.
  kPropagate,  ///< Take what follows from the placements of the inputs: data parallelism if only the batch is divided.
  /// Take operands as what follows from `start_inputs` does wherever that divides one, and divide the rest so that
  /// fewest bytes are exchanged: with data parallelism to start from, gradients are reduce-scattered and updates
  /// divided (ZeRO).
  kDivideUpdates,
};

/// What a step with micro-batches has beside its own: inputs from `num_inputs` on are a flag and accumulators; outputs
/// from `num_outputs` on are the accumulators' new values and then what is the last micro-batch's. These outputs are
/// made once a micro-batch, by a program of their own; the others once a step.
struct MicroBatches {
  double count = 1;
  size_t num_inputs = 0;
  size_t num_outputs = 0;
  size_t num_accumulators = 0;
};

/// What the intra-operator planner is asked: placements of all values of a program on one mesh.
struct IntraRequest {
  const hlo::Module& module;  ///< Calls inlined.
  const hlo::ValueGraph& graph;
  const cost::CollectiveModel& collectives;
  std::vector<std::optional<sharding::ShardingSpec>> pinned_inputs;  ///< One an input, or empty.
  std::vector<Feed> feeds;
  std::vector<Pin> pins = {};
  /// One an output, or fewer: where an output that feeds no input must end up, whatever made it.
  std::vector<std::optional<sharding::SpecPattern>> pinned_outputs = {};
  std::optional<MicroBatches> micro_batches = std::nullopt;
  std::vector<int64_t> input_copies = {};  ///< Arrays of an input's shape that are held at once; empty: one each.
  std::optional<int64_t> memory_cap_bytes = std::nullopt;
  /// What a device has, if that is more than the cap: accumulators may fill it (AccumulatedSums).
  std::optional<int64_t> device_memory_bytes = std::nullopt;
  Search search = Search::kOptimize;
  bool whole_contractions = false;       ///< Whether contractions may be divided less than they can be.
  std::vector<Division> divisions = {};  ///< By input, or empty.
  /// Inputs' placements of a plan to start from; the result is never worse than what follows from them.
  std::vector<std::optional<sharding::ShardingSpec>> start_inputs;
  solver::Options solver;
  DeviceCompiler compiler = {};  ///< What will compile the plan's program: its memory is predicted.
  bool keep_problem = false;     ///< Whether the assignment keeps the labelling problem that it answers.
};

/// A labelling problem and the choice for each of its nodes.
struct AnsweredProblem {
  solver::Problem problem;
  std::vector<int32_t> choice;
};

/// A choice for every node of the graph.
struct Assignment {
  std::vector<std::shared_ptr<const StrategyTable>> tables;  ///< By node; null for generators.
  std::vector<int32_t> choice;                               ///< By node; -1 for generators.
  double objective_seconds = 0;
  double bound_seconds = 0;  ///< No assignment costs less; 0 where nothing is proved: not by Search::kOptimize.
  int64_t memory_bytes = 0;  ///< Peak of the bytes alive on one device.
  solver::Statistics statistics;
  std::optional<AnsweredProblem> answered;  ///< If IntraRequest::keep_problem: what was solved.

  bool is_generator(hlo::NodeId node) const { return tables[static_cast<size_t>(node)] == nullptr; }
  const Strategy& strategy(hlo::NodeId node) const {
    return tables[static_cast<size_t>(node)]->strategies[static_cast<size_t>(choice[static_cast<size_t>(node)])];
  }
  /// Placement of a value where it is made. Not for generators.
  const sharding::ShardingSpec& spec(const hlo::ValueGraph& graph, hlo::ValueId value) const {
    const hlo::Value& made = graph.values[static_cast<size_t>(value)];
    return strategy(made.producer).results[static_cast<size_t>(made.result)];
  }
};

/// Minimises seconds of communication (collectives of the operations and changes of placement) and of dots and
/// convolutions, plus a thousandth of the memory traffic, which breaks ties towards divided work. Errors:
/// InfeasibleError that knows the least memory by the problem's own count, or says that nothing satisfies what is
/// asked; InvalidArgumentError if a pin pads its array.
Assignment plan_intra(const IntraRequest& request);

}  // namespace alpa::planner
