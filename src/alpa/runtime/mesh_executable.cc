#include "alpa/runtime/mesh_executable.h"

#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/runtime/array/micro_batch.h"

namespace alpa::runtime {
namespace {

// Placements of tensors; `known` has those made before.
std::vector<std::shared_ptr<const Placement>> placements(const std::vector<plan::TensorPlan>& tensors,
                                                         const mesh::LogicalMesh& mesh,
                                                         std::vector<std::shared_ptr<const Placement>>& known) {
  std::vector<std::shared_ptr<const Placement>> result;
  for (const plan::TensorPlan& tensor : tensors) {
    const Placement placement{tensor.shape, tensor.spec, mesh};
    const auto same = std::find_if(known.begin(), known.end(), [&](const auto& other) { return *other == placement; });
    if (same == known.end()) {
      known.push_back(std::make_shared<const Placement>(placement));
      result.push_back(known.back());
    } else {
      result.push_back(*same);
    }
  }
  return result;
}

}  // namespace

MeshExecutable::MeshExecutable(pjrt::Executable executable, const plan::Plan& plan,
                               std::vector<std::optional<int>> feeds)
    : executable_(std::move(executable)),
      inputs_(plan.inputs),
      outputs_(plan.outputs),
      mesh_(plan.mesh),
      feeds_(std::move(feeds)) {
  ALPA_CHECK(feeds_.size() == outputs_.size());
  std::vector<std::shared_ptr<const Placement>> known;
  input_placements_ = placements(inputs_, mesh_, known);
  output_placements_ = placements(outputs_, mesh_, known);
}

MeshExecutable::MeshExecutable(pjrt::Executable executable, const plan::Plan& plan,
                               std::vector<std::optional<int>> feeds, Accumulator accumulator)
    : MeshExecutable(std::move(executable), plan, std::move(feeds)) {
  ALPA_CHECK(accumulator.wiring().batch_dims.size() == inputs_.size());
  accumulator_ = std::move(accumulator);
}

bool MeshExecutable::is_whole_batch(const std::vector<tensor::Literal>& inputs) const {
  std::optional<size_t> whole, part;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (is_cut(k)) (inputs[k].shape() == inputs_[k].shape ? part : whole) = k;
  }
  require<InvalidArgumentError>(!whole || !part, "run",
                                "input {} is {}, one micro-batch, and input {} is {}: give all batch inputs {} times "
                                "the size of a micro-batch, or all that size",
                                part ? inputs_[*part].name : "", part ? tensor::to_string(inputs_[*part].shape) : "",
                                whole ? inputs_[*whole].name : "",
                                whole ? tensor::to_string(inputs[*whole].shape()) : "", micro_batches());
  return whole.has_value();
}

std::vector<tensor::Literal> MeshExecutable::parts_of(const tensor::Literal& input, size_t index, bool whole) const {
  const plan::TensorPlan& planned = inputs_[index];
  std::vector<tensor::Literal> parts;
  if (whole && is_cut(index)) {
    tensor::Shape batch = planned.shape;
    const int dim = *accumulator_->wiring().batch_dims[index];
    batch.dims[static_cast<size_t>(dim)] *= micro_batches();
    require<InvalidArgumentError>(
        input.shape() == batch, "run", "input {} is {}, {} micro-batches of the program's {} are {}", planned.name,
        tensor::to_string(input.shape()), micro_batches(), tensor::to_string(planned.shape), tensor::to_string(batch));
    for (int64_t k = 0; k < micro_batches(); ++k) parts.push_back(micro_batch(input, dim, micro_batches(), k));
    return parts;
  }
  require<InvalidArgumentError>(input.shape() == planned.shape, "run", "input {} is {}, the program takes {}",
                                planned.name, tensor::to_string(input.shape()), tensor::to_string(planned.shape));
  return {input};
}

void MeshExecutable::set_inputs(const std::vector<tensor::Literal>& inputs) {
  require<InvalidArgumentError>(inputs.size() == inputs_.size(), "run", "{} inputs given, the program takes {}",
                                inputs.size(), inputs_.size());
  placed_.clear();
  std::vector<size_t> placed_in;  // by slot
  const bool whole = is_whole_batch(inputs);
  for (size_t k = 0; k < inputs.size(); ++k) {
    for (const tensor::Literal& part : parts_of(inputs[k], k, whole)) {
      placed_in.push_back(placed_.size());
      placed_.push_back(DistributedArray::place(executable_.client(), part, inputs_[k].spec, mesh_));
    }
    if (is_cut(k) && !whole)
      placed_in.insert(placed_in.end(), static_cast<size_t>(micro_batches() - 1), placed_in.back());
  }
  arguments_.assign(static_cast<size_t>(mesh_.num_devices()), {});
  for (size_t device = 0; device < arguments_.size(); ++device) {
    for (const size_t array : placed_in) arguments_[device].push_back(&placed_[array].buffers()[device]);
  }
  fed_ = false;
}

void MeshExecutable::execute(const std::vector<std::vector<pjrt::Buffer*>>& slots, pjrt::ExecuteResult& result) {
  if (!accumulator_) return executable_.execute_into(slots, {}, result);
  accumulator_->run(slots);
  accumulator_->fill_apply(slots, apply_arguments_);
  executable_.execute_into(apply_arguments_, {}, result);
}

void MeshExecutable::step() {
  require<InvalidArgumentError>(!arguments_.empty(), "run", "no inputs were set");
  execute(arguments_, result_);
  if (fed_) return;
  // From the second step on the state comes from the outputs, whose buffers are replaced in place.
  for (size_t output = 0; output < feeds_.size(); ++output) {
    if (!feeds_[output]) continue;
    const size_t slot = accumulator_ ? accumulator_->slot(*feeds_[output]) : static_cast<size_t>(*feeds_[output]);
    for (size_t device = 0; device < arguments_.size(); ++device)
      arguments_[device][slot] = &result_.outputs[device][output];
  }
  fed_ = true;
}

std::vector<std::shared_ptr<DistributedArray>> MeshExecutable::launch(std::span<DistributedArray* const> arguments,
                                                                      std::vector<pjrt::Event>& events) {
  const auto devices = static_cast<size_t>(mesh_.num_devices());
  ALPA_CHECK(arguments.size() == num_slots());
  launch_arguments_.resize(devices);
  for (size_t device = 0; device < devices; ++device) {
    launch_arguments_[device].clear();
    for (DistributedArray* const array : arguments) launch_arguments_[device].push_back(&array->buffers()[device]);
  }
  execute(launch_arguments_, launch_result_);
  events = std::move(launch_result_.events);
  std::vector<std::shared_ptr<DistributedArray>> arrays;
  arrays.reserve(outputs_.size());
  for (size_t output = 0; output < outputs_.size(); ++output) {
    std::vector<pjrt::Buffer> parts;
    parts.reserve(devices);
    for (size_t device = 0; device < devices; ++device)
      parts.push_back(std::move(launch_result_.outputs[device][output]));
    arrays.push_back(std::make_shared<DistributedArray>(output_placements_[output], std::move(parts)));
  }
  return arrays;
}

void MeshExecutable::sync() {
  for (pjrt::Event& event : result_.events) event.await();
}

tensor::Literal MeshExecutable::output(int index) const {
  const plan::TensorPlan& planned = outputs_.at(static_cast<size_t>(index));
  std::vector<const pjrt::Buffer*> buffers;
  for (const auto& outputs : result_.outputs) buffers.push_back(&outputs.at(static_cast<size_t>(index)));
  require<InvalidArgumentError>(!buffers.empty(), "run", "no step was run");
  return gather_to_host(planned.shape, planned.spec, mesh_, buffers);
}

}  // namespace alpa::runtime
