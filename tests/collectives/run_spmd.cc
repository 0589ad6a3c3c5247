#include "run_spmd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "alpa/base/error.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/passes/as_replicas.h"
#include "alpa/pjrt/executable.h"

namespace alpa::collectives {
namespace {

constexpr int kDevices = 8;

double difference(const tensor::Literal& a, const tensor::Literal& b) {
  double largest = 1e-30;
  double worst = 0;
  for (int64_t k = 0; k < tensor::num_elements(a.shape()); ++k) {
    const double x = a.at(k);
    const double y = b.at(k);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    worst = std::max(worst, std::isfinite(x - y) ? std::abs(x - y) : std::numeric_limits<double>::infinity());
    largest = std::max(largest, std::abs(x));
  }
  return worst / largest;
}

}  // namespace

PerDevice run(const hlo::Module& partitioned, const PerDevice& inputs, int plugin) {
  const pjrt::Client& on = pjrt::eight_devices(plugin);
  pjrt::CompileOptions options;
  options.num_replicas = kDevices;
  for (const pjrt::Device& device : on.devices()) options.device_ids.push_back(device.id());
  pjrt::Executable executable =
      pjrt::Executable::compile(on, hlo::write_module(passes::as_replicas(partitioned)), pjrt::Format::kHlo, options);
  std::vector<std::vector<pjrt::Buffer>> buffers(kDevices);
  std::vector<std::vector<pjrt::Buffer*>> arguments(kDevices);
  for (size_t device = 0; device < kDevices; ++device) {
    buffers[device].reserve(inputs.at(device).size());
    for (const tensor::Literal& input : inputs[device]) {
      // A donation may write into the memory of a literal that is used as it is.
      const pjrt::HostData copied{input.shape(), input.bytes(), nullptr};
      buffers[device].push_back(pjrt::Buffer::from_host(on, on.devices()[device], copied));
      arguments[device].push_back(&buffers[device].back());
    }
  }
  pjrt::ExecuteResult result = executable.execute(arguments);
  for (pjrt::Event& event : result.events) event.await();
  PerDevice outputs;
  for (const auto& of_device : result.outputs) {
    outputs.emplace_back();
    for (const pjrt::Buffer& buffer : of_device) outputs.back().push_back(buffer.to_host());
  }
  return outputs;
}

PerDevice whole_numbers(const hlo::Module& partitioned) {
  std::mt19937 random(7);
  PerDevice inputs(kDevices);
  for (auto& of_device : inputs) {
    for (const hlo::InstructionId id : hlo::parameters(partitioned.entry_computation())) {
      tensor::Literal literal(partitioned.entry_computation()[id].shape);
      for (int64_t k = 0; k < tensor::num_elements(literal.shape()); ++k)
        literal.set(k, static_cast<double>(static_cast<int>(random() % 41) - 20));
      of_device.push_back(std::move(literal));
    }
  }
  return inputs;
}

std::vector<double> differences(const PerDevice& a, const PerDevice& b) {
  ALPA_CHECK(a.size() == b.size());
  std::vector<double> worst(a.front().size(), 0);
  for (size_t device = 0; device < a.size(); ++device) {
    ALPA_CHECK(a[device].size() == worst.size() && b[device].size() == worst.size());
    for (size_t k = 0; k < worst.size(); ++k) {
      ALPA_CHECK(a[device][k].shape() == b[device][k].shape());
      worst[k] = std::max(worst[k], difference(a[device][k], b[device][k]));
    }
  }
  return worst;
}

double difference(const PerDevice& a, const PerDevice& b) {
  const std::vector<double> all = differences(a, b);
  return all.empty() ? 0 : *std::max_element(all.begin(), all.end());
}

}  // namespace alpa::collectives
