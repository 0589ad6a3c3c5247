#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "alpa/hlo/edit.h"
#include "alpa/passes/defer_sums.h"
#include "forms.h"

/// Partitioned steps with micro-batches. Values are whole numbers, so that results are equal to the bit.
namespace alpa::collectives {

inline constexpr int64_t kMicroBatches = 3;
inline const Shape kWhole = f32({16, 8});

/// What a step's programs are built with: `part`, which each device has another of in each micro-batch, and the sum's
/// reducer. Gives the values that are added to accumulators.
using AddendsOfModule = std::function<std::vector<InstructionId>(ModuleBuilder&, ComputationBuilder&,
                                                                 InstructionId part, ComputationId sum)>;
using Addends = std::function<std::vector<InstructionId>(ComputationBuilder&, InstructionId part, ComputationId sum)>;

struct Step {
  Module accumulate, apply;
  int64_t num_accumulators = 0;
};

/// accumulate: (part, flag, accumulators) -> accumulators; apply: accumulators -> each divided by their number.
inline Step step_with_calls(const AddendsOfModule& addends) {
  Step result;
  std::vector<Shape> shapes;
  result.accumulate = hlo::program([&](ModuleBuilder& m, ComputationBuilder& b) {
    const ComputationId sum = m.reducer(Opcode::kAdd, DType::kF32);
    const InstructionId part = b.parameter(kWhole), flag = b.parameter(Shape(DType::kPred, {}));
    std::vector<InstructionId> sums;
    for (const InstructionId addend : addends(m, b, part, sum)) {
      const Shape shape = b.shape(addend);
      const InstructionId first = b.with_dimensions(Opcode::kBroadcast, Shape(DType::kPred, shape.dims), {flag}, {});
      const InstructionId zeros = b.with_dimensions(Opcode::kBroadcast, shape, {b.scalar(DType::kF32, 0)}, {});
      const InstructionId before = b.op(Opcode::kSelect, shape, {first, zeros, b.parameter(shape)});
      sums.push_back(b.op(Opcode::kAdd, shape, {before, addend}));
      shapes.push_back(shape);
    }
    return b.tuple(sums);
  });
  std::vector<hlo::Alias> aliases;
  result.num_accumulators = static_cast<int64_t>(shapes.size());
  for (int64_t k = 0; k < result.num_accumulators; ++k) aliases.push_back({.output = k, .parameter = 2 + k});
  hlo::set_input_output_aliases(result.accumulate, aliases);
  result.apply = hlo::program([&](ModuleBuilder&, ComputationBuilder& b) {
    std::vector<InstructionId> means;
    for (const Shape& shape : shapes) {
      const InstructionId count =
          b.with_dimensions(Opcode::kBroadcast, shape, {b.scalar(DType::kF32, kMicroBatches)}, {});
      means.push_back(b.op(Opcode::kDivide, shape, {b.parameter(shape), count}));
    }
    return b.tuple(means);
  });
  return result;
}

inline Step step(const Addends& addends) {
  return step_with_calls([&](ModuleBuilder&, ComputationBuilder& b, InstructionId part, ComputationId sum) {
    return addends(b, part, sum);
  });
}

inline passes::DeferRequest defer_request(const Step& step, std::vector<char> which = {}) {
  which.resize(static_cast<size_t>(step.num_accumulators), which.empty());
  return {kDevices, kMicroBatches, 1, 0, which};
}

inline Step deferred(const Step& old, std::vector<char> which = {}) {
  const auto result = passes::defer_sums(old.accumulate, old.apply, defer_request(old, std::move(which)));
  return {result.accumulate, result.apply, result.num_accumulators};
}

/// What a step makes of other parts in each micro-batch. The accumulators begin with what is no number of the step.
inline PerDevice run_step(const Step& step, int plugin) {
  PerDevice inputs = whole_numbers(step.accumulate);
  for (int64_t k = 0; k < kMicroBatches; ++k) {
    for (size_t device = 0; device < inputs.size(); ++device) {
      tensor::Literal& part = inputs[device][0];
      for (int64_t at = 0; at < tensor::num_elements(part.shape()); ++at)
        part.set(at, static_cast<double>((at * 7 + k * 5 + static_cast<int64_t>(device) * 3) % 23 - 11));
      inputs[device][1].set(0, k == 0);
    }
    const PerDevice sums = run(step.accumulate, inputs, plugin);
    for (size_t device = 0; device < inputs.size(); ++device)
      std::copy(sums[device].begin(), sums[device].end(), inputs[device].begin() + 2);
  }
  for (auto& of_device : inputs) of_device.erase(of_device.begin(), of_device.begin() + 2);
  return run(step.apply, inputs, plugin);
}

inline void expect_same(const Step& before, const Step& after) {
  for (const int plugin : {0, 1})
    EXPECT_EQ(difference(run_step(before, plugin), run_step(after, plugin)), 0) << "plug-in " << plugin;
}

inline InstructionId all_reduce(ComputationBuilder& b, InstructionId value, const Mesh& mesh, Axes over,
                                ComputationId sum) {
  return b.collective(Opcode::kAllReduce, b.shape(value), {value}, mesh.groups(over), std::nullopt, sum);
}

inline double count_all(const Module& module) {
  double all = 0;
  for (const auto& [kind, total] : hlo::collectives(module)) all += total.count;
  return all;
}

}  // namespace alpa::collectives
