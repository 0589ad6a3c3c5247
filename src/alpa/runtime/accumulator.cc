#include "alpa/runtime/accumulator.h"

namespace alpa::runtime {

Accumulator::Accumulator(pjrt::Executable executable, AccumulationWiring wiring, mesh::LogicalMesh mesh)
    : executable_(std::move(executable)), wiring_(std::move(wiring)), mesh_(std::move(mesh)) {
  for (const std::optional<int>& dim : wiring_.batch_dims) {
    slots_.push_back(num_slots_);
    num_slots_ += dim ? static_cast<size_t>(wiring_.micro_batches) : 1;
  }
  for (const bool first : {false, true}) {
    tensor::Literal flag(tensor::Shape(tensor::DType::kPred, {}));
    flag.set(0, first);
    flags_.push_back(DistributedArray::place(executable_.client(), flag, {}, mesh_));
  }
  arguments_.resize(static_cast<size_t>(mesh_.num_devices()));
}

void Accumulator::place_accumulators() {
  accumulators_.clear();
  accumulators_.resize(arguments_.size());
  const pjrt::Client& client = executable_.client();
  for (size_t device = 0; device < accumulators_.size(); ++device) {
    accumulators_[device].reserve(wiring_.accumulators.size());
    for (const tensor::Shape& shape : wiring_.accumulators)
      accumulators_[device].push_back(
          pjrt::Buffer::from_host(client, client.devices()[device], tensor::Literal(shape)));
  }
}

void Accumulator::lay_out(const std::vector<std::vector<pjrt::Buffer*>>& slots, int64_t micro_batch) {
  const bool first = micro_batch == 0;
  for (size_t device = 0; device < arguments_.size(); ++device) {
    std::vector<pjrt::Buffer*>& arguments = arguments_[device];
    arguments.clear();
    for (const int input : wiring_.accumulate_inputs) {
      const bool cut = wiring_.batch_dims[static_cast<size_t>(input)].has_value();
      arguments.push_back(slots[device][slot(input) + (cut ? static_cast<size_t>(micro_batch) : 0)]);
    }
    arguments.push_back(&flags_[first ? 1 : 0].buffers()[device]);
    for (size_t k = 0; k < wiring_.accumulators.size(); ++k)
      arguments.push_back(kept_ ? &result_.outputs[device][k] : &accumulators_[device][k]);
  }
}

void Accumulator::run(const std::vector<std::vector<pjrt::Buffer*>>& slots) {
  // After an error the accumulators are those of no step: new ones are made. They are not read before they are written.
  if (!kept_) place_accumulators();
  for (int64_t k = 0; k < wiring_.micro_batches; ++k) {
    lay_out(slots, k);
    kept_ = false;
    executable_.execute_into(arguments_, {}, result_);
    if (executable_.client().is_cpu()) {
      for (const pjrt::Event& event : result_.events) event.await();
    }
    kept_ = true;
    accumulators_.clear();
  }
}

void Accumulator::fill_apply(const std::vector<std::vector<pjrt::Buffer*>>& slots,
                             std::vector<std::vector<pjrt::Buffer*>>& arguments) {
  arguments.resize(slots.size());
  for (size_t device = 0; device < slots.size(); ++device) {
    arguments[device].clear();
    for (const int input : wiring_.apply_inputs) arguments[device].push_back(slots[device][slot(input)]);
    for (pjrt::Buffer& buffer : result_.outputs[device]) arguments[device].push_back(&buffer);
  }
}

}  // namespace alpa::runtime
