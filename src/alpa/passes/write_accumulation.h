#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alpa/hlo/module.h"
#include "alpa/passes/accumulation.h"

namespace alpa::passes {

/// A step that is to run in parts of its batch.
struct AccumulationRequest {
  int64_t micro_batches = 2;
  std::vector<bool> batch_inputs;         ///< By parameter: what differs from micro-batch to micro-batch.
  std::vector<std::string> output_names;  ///< By output, for messages.
  /// What the program's description says of the marker: its number of operands. It stands in for `num_values`.
  std::optional<size_t> marked_operands;
};

/// The element type in which values of `dtype` are summed over micro-batches: f32 for floats below 32 bits.
tensor::DType sum_type(tensor::DType dtype);

struct WrittenAccumulation {
  hlo::Module module;
  Accumulation layout;
};

/// The step of one micro-batch with the accumulation over micro-batches written out: each gradient marker becomes, for
/// each operand that the step uses,
///
///   accumulated = (first ? 0 : accumulator) + operand      once a micro-batch
///   result      = accumulated / micro_batches              once a step
///
/// for floating and complex operands; integers, booleans and keys are passed on as they are: the last micro-batch's.
/// Sums of floats below 32 bits are kept in f32, and the mean is rounded once. Outputs of the step that are no floats
/// and depend on the batch without the marker are the last micro-batch's too. Accumulators share memory with their new
/// values. What is before the markers comes first, then what is after; what no output needs is left out.
/// `module`: calls inlined, other markers dropped.
/// Errors: InvalidArgumentError if there is no marker, it lacks `num_values` and the description says nothing of it, or
/// what follows it depends on the batch otherwise than through it (which would be the last micro-batch's alone);
/// UnsupportedError for markers one after the other.
WrittenAccumulation write_accumulation(const hlo::Module& module, const AccumulationRequest& request);

}  // namespace alpa::passes
