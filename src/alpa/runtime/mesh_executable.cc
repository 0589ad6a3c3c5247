#include "alpa/runtime/mesh_executable.h"

#include "alpa/base/error.h"

namespace alpa::runtime {

MeshExecutable::MeshExecutable(pjrt::Executable executable, const plan::Plan& plan,
                               std::vector<std::optional<int>> feeds)
    : executable_(std::move(executable)),
      inputs_(plan.inputs),
      outputs_(plan.outputs),
      mesh_(plan.mesh),
      feeds_(std::move(feeds)) {
  ALPA_CHECK(feeds_.size() == outputs_.size());
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
  std::vector<std::vector<pjrt::Buffer*>> buffers(devices);
  for (size_t device = 0; device < devices; ++device) {
    buffers[device].reserve(arguments.size());
    for (DistributedArray* const array : arguments) buffers[device].push_back(&array->buffers()[device]);
  }
  pjrt::ExecuteResult result = executable_.execute(buffers);
  events = std::move(result.events);
  std::vector<std::shared_ptr<DistributedArray>> arrays;
  arrays.reserve(outputs_.size());
  for (size_t output = 0; output < outputs_.size(); ++output) {
    std::vector<pjrt::Buffer> parts;
    parts.reserve(devices);
    for (size_t device = 0; device < devices; ++device) parts.push_back(std::move(result.outputs[device][output]));
    arrays.push_back(
        std::make_shared<DistributedArray>(outputs_[output].shape, outputs_[output].spec, mesh_, std::move(parts)));
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
