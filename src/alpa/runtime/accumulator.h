#pragma once

#include <optional>
#include <vector>

#include "alpa/pjrt/executable.h"
#include "alpa/plan/plan.h"
#include "alpa/runtime/array/distributed_array.h"

namespace alpa::runtime {

/// How the two programs of a step with gradient accumulation take and give arrays.
struct AccumulationWiring {
  int64_t micro_batches = 1;
  std::vector<std::optional<int>> batch_dims;  ///< By input of the step: the dim that is cut into micro-batches.
  std::vector<int> accumulate_inputs;          ///< Inputs of the step that are the first parameters of one program
  std::vector<int> apply_inputs;               ///< and of the other.
  /// Last parameters and first outputs of `accumulate`, as each device has them. What the devices have need not be
  /// parts of one array: of a sum that is communicated once a step each has an addend.
  std::vector<tensor::Shape> accumulators;
};

/// Runs the part of a step that finds gradients, once a micro-batch, and keeps the accumulators between steps.
///
/// The arrays of a step lie in slots: one an input, in order, and one a micro-batch for an input that is cut.
class Accumulator {
 public:
  Accumulator(pjrt::Executable executable, AccumulationWiring wiring, mesh::LogicalMesh mesh);

  const AccumulationWiring& wiring() const { return wiring_; }
  size_t num_slots() const { return num_slots_; }
  /// Slot of an input; the first of an input that is cut.
  size_t slot(int input) const { return slots_[static_cast<size_t>(input)]; }

  /// Enqueues the runs of all micro-batches; on CPU devices waits for each, as runs with collectives must not overlap
  /// there. `slots[device][slot]`. Errors: as pjrt::Executable::execute.
  void run(const std::vector<std::vector<pjrt::Buffer*>>& slots);

  /// Arguments of the program that applies the gradients, by device: of the slots, and what `run` left.
  void fill_apply(const std::vector<std::vector<pjrt::Buffer*>>& slots,
                  std::vector<std::vector<pjrt::Buffer*>>& arguments);

  const pjrt::Executable& executable() const { return executable_; }

 private:
  void place_accumulators();
  void lay_out(const std::vector<std::vector<pjrt::Buffer*>>& slots, int64_t micro_batch);

  pjrt::Executable executable_;
  AccumulationWiring wiring_;
  mesh::LogicalMesh mesh_;
  std::vector<size_t> slots_;
  size_t num_slots_ = 0;
  std::vector<DistributedArray> flags_;  ///< False and true: whether it is the step's first micro-batch.
  /// Of the first run, by device; later ones take the outputs of the one before.
  std::vector<std::vector<pjrt::Buffer>> accumulators_;
  bool kept_ = false;  ///< Whether the last run left accumulators.
  std::vector<std::vector<pjrt::Buffer*>> arguments_;
  pjrt::ExecuteResult result_;
};

}  // namespace alpa::runtime
