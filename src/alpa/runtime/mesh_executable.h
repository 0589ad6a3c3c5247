#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "alpa/pjrt/executable.h"
#include "alpa/plan/plan.h"
#include "alpa/runtime/accumulator.h"
#include "alpa/runtime/array/distributed_array.h"

namespace alpa::runtime {

/// A compiled training step on the devices of one mesh, and its state between steps: outputs that feed inputs stay
/// where they are. The step loop takes no decisions and allocates nothing here. A step that runs its batch in parts has
/// two programs: one is run for each micro-batch, the other once with what they accumulated.
class MeshExecutable {
 public:
  /// `feeds[output]`: the input that takes it in the next step.
  MeshExecutable(pjrt::Executable executable, const plan::Plan& plan, std::vector<std::optional<int>> feeds);
  /// `executable` applies the gradients that the accumulator's program finds.
  MeshExecutable(pjrt::Executable executable, const plan::Plan& plan, std::vector<std::optional<int>> feeds,
                 Accumulator accumulator);

  /// Places the inputs of the first step, by number. With micro-batches, batch inputs are cut in order if they have as
  /// many times the size that the program takes; if they all have that size, each micro-batch uses them as they are.
  /// Errors: InvalidArgumentError that names an input whose shape or element type is not the program's.
  void set_inputs(const std::vector<tensor::Literal>& inputs);

  /// Enqueues one step. Errors: as pjrt::Executable::execute.
  void step();
  /// Waits for the last step; throws the error that it met.
  void sync();

  /// Arrays that a run takes: one an input, one a micro-batch of an input that is cut.
  size_t num_slots() const { return accumulator_ ? accumulator_->num_slots() : inputs_.size(); }
  int64_t micro_batches() const { return accumulator_ ? accumulator_->wiring().micro_batches : 1; }
  /// True if an input has one slot a micro-batch.
  bool is_cut(size_t input) const { return accumulator_ && accumulator_->wiring().batch_dims[input].has_value(); }

  /// One run on arrays that are placed as the plan says, by slot: by device 0.. of the client's first devices. Donated
  /// ones are deleted. The outputs may still be under way: `events` (one a device) tell. One thread at a time.
  /// Errors: as pjrt::Executable::execute.
  std::vector<std::shared_ptr<DistributedArray>> launch(std::span<DistributedArray* const> arguments,
                                                        std::vector<pjrt::Event>& events);

  const std::vector<plan::TensorPlan>& inputs() const { return inputs_; }
  /// Of the inputs; equal ones, and those of outputs, are one object.
  const std::vector<std::shared_ptr<const Placement>>& input_placements() const { return input_placements_; }
  const std::vector<plan::TensorPlan>& outputs() const { return outputs_; }
  const mesh::LogicalMesh& logical_mesh() const { return mesh_; }

  /// Output of the last step, whole, on the host; waits for it.
  tensor::Literal output(int index) const;

  const pjrt::Executable& executable() const { return executable_; }
  /// The program alone, without what is kept between steps.
  pjrt::Executable take_executable() && { return std::move(executable_); }

 private:
  std::vector<tensor::Literal> parts_of(const tensor::Literal& input, size_t index, bool whole) const;
  bool is_whole_batch(const std::vector<tensor::Literal>& inputs) const;
  void execute(const std::vector<std::vector<pjrt::Buffer*>>& slots, pjrt::ExecuteResult& result);

  pjrt::Executable executable_;
  std::optional<Accumulator> accumulator_;
  std::vector<plan::TensorPlan> inputs_;
  std::vector<plan::TensorPlan> outputs_;
  mesh::LogicalMesh mesh_;
  std::vector<std::shared_ptr<const Placement>> input_placements_;
  std::vector<std::shared_ptr<const Placement>> output_placements_;
  std::vector<std::optional<int>> feeds_;
  std::vector<DistributedArray> placed_;
  std::vector<std::vector<pjrt::Buffer*>> arguments_;  ///< By device and slot.
  std::vector<std::vector<pjrt::Buffer*>> apply_arguments_;
  pjrt::ExecuteResult result_;
  // Lists of `launch`, kept from one to the next: large allocations between the small ones of a step's arrays are slow.
  std::vector<std::vector<pjrt::Buffer*>> launch_arguments_;
  pjrt::ExecuteResult launch_result_;
  bool fed_ = false;
};

}  // namespace alpa::runtime
