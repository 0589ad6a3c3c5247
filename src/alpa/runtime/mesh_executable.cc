#include "alpa/runtime/mesh_executable.h"

#include <algorithm>

#include "alpa/base/error.h"

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

void MeshExecutable::set_inputs(const std::vector<tensor::Literal>& inputs) {
  require<InvalidArgumentError>(inputs.size() == inputs_.size(), "run", "{} inputs given, the program takes {}",
                                inputs.size(), inputs_.size());
  placed_.clear();
  for (size_t k = 0; k < inputs.size(); ++k) {
    require<InvalidArgumentError>(inputs[k].shape() == inputs_[k].shape, "run", "input {} is {}, the program takes {}",
                                  inputs_[k].name, tensor::to_string(inputs[k].shape()),
                                  tensor::to_string(inputs_[k].shape));
    placed_.push_back(DistributedArray::place(executable_.client(), inputs[k], inputs_[k].spec, mesh_));
  }
  arguments_.assign(static_cast<size_t>(mesh_.num_devices()), {});
  for (size_t device = 0; device < arguments_.size(); ++device) {
    for (DistributedArray& array : placed_) arguments_[device].push_back(&array.buffers()[device]);
  }
  fed_ = false;
}

void MeshExecutable::step() {
  require<InvalidArgumentError>(!arguments_.empty(), "run", "no inputs were set");
  executable_.execute_into(arguments_, {}, result_);
  if (fed_) return;
  // From the second step on the state comes from the outputs, whose buffers are replaced in place.
  for (size_t output = 0; output < feeds_.size(); ++output) {
    if (!feeds_[output]) continue;
    for (size_t device = 0; device < arguments_.size(); ++device) {
      arguments_[device][static_cast<size_t>(*feeds_[output])] = &result_.outputs[device][output];
    }
  }
  fed_ = true;
}

std::vector<std::shared_ptr<DistributedArray>> MeshExecutable::launch(std::span<DistributedArray* const> arguments,
                                                                      std::vector<pjrt::Event>& events) {
  const auto devices = static_cast<size_t>(mesh_.num_devices());
  ALPA_CHECK(arguments.size() == inputs_.size());
  launch_arguments_.resize(devices);
  for (size_t device = 0; device < devices; ++device) {
    launch_arguments_[device].clear();
    for (DistributedArray* const array : arguments) launch_arguments_[device].push_back(&array->buffers()[device]);
  }
  executable_.execute_into(launch_arguments_, {}, launch_result_);
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
