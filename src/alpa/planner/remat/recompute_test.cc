#include "alpa/planner/remat/recompute.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>

#include "alpa/hlo/testing/programs.h"
#include "alpa/planner/remat/min_cut.h"

namespace alpa::planner {
namespace {

using hlo::ComputationBuilder;
using hlo::f32;
using hlo::InstructionId;
using hlo::ModuleBuilder;
using hlo::Opcode;

// Operations of the forward pass with random operands among those before; the backward pass reads the chosen ones.
struct Forward {
  hlo::Module module;
  std::vector<InstructionId> values;          ///< Forward operations, the last one is the loss' operand.
  std::vector<std::vector<size_t>> operands;  ///< By value: earlier values; empty: the parameter.
  std::vector<bool> late;
};

Forward random_forward(uint32_t seed) {
  std::mt19937 random(seed);
  Forward result;
  result.module = hlo::program([&](ModuleBuilder& module, ComputationBuilder& b) {
    const tensor::Shape shape = f32({16, 4});
    const InstructionId input = b.parameter(shape);
    for (size_t k = 0; k < 8; ++k) {
      std::vector<size_t> from;
      if (k > 0) from = {k - 1};
      if (k > 1 && random() % 2 == 0) from.push_back(random() % (k - 1));
      std::vector<InstructionId> ids;
      for (const size_t one : from) ids.push_back(result.values[one]);
      if (ids.empty()) ids = {input};
      result.values.push_back(b.op(ids.size() == 2 ? Opcode::kMultiply : Opcode::kTanh, shape, ids));
      result.operands.push_back(from);
      result.late.push_back(k == 7 || random() % 2 == 0);
    }
    const auto add = module.reducer(Opcode::kAdd, tensor::DType::kF32);
    const InstructionId zero = b.scalar(tensor::DType::kF32, 0);
    const InstructionId loss = b.with_dimensions(Opcode::kReduce, f32({}), {result.values.back(), zero}, {0, 1}, {add});
    InstructionId gradient = result.values.back();
    for (size_t k = result.values.size(); k-- > 0;) {
      if (result.late[k]) gradient = b.op(Opcode::kAdd, shape, {gradient, result.values[k]});
    }
    return b.tuple({gradient, loss});
  });
  return result;
}

constexpr double kBandwidth = 1e9;

// Seconds plus price times bytes of the best way to have all late values, by trying all sets made anew.
double brute_force(const Forward& forward, InstructionId end, double price) {
  double best = std::numeric_limits<double>::infinity();
  for (uint32_t set = 0; set < 256; ++set) {
    std::vector<bool> wanted = forward.late;
    double cost = 0;
    for (size_t k = 8; k-- > 0;) {
      if (!wanted[k]) continue;
      const bool anew = (set >> k & 1) != 0;
      const double bytes = 16 * 4 * 4;
      if (anew && forward.values[k] >= end) cost = std::numeric_limits<double>::infinity();
      const double arrays = static_cast<double>(std::max<size_t>(forward.operands[k].size(), 1) + 1);
      cost += anew ? arrays * bytes / kBandwidth : price * bytes;
      if (anew) {
        for (const size_t one : forward.operands[k]) wanted[one] = true;
      }
    }
    best = std::min(best, cost);
  }
  return best;
}

double cost_of(const Forward& forward, const Recomputation& chosen, double price) {
  const std::set<std::string> names(chosen.names.begin(), chosen.names.end());
  std::vector<bool> wanted = forward.late;
  double kept = 0;
  for (size_t k = 8; k-- > 0;) {
    if (!wanted[k]) continue;
    if (!names.contains(forward.module.entry_computation()[forward.values[k]].name)) {
      kept += price * 16 * 4 * 4;
      continue;
    }
    for (const size_t one : forward.operands[k]) wanted[one] = true;
  }
  return kept + chosen.seconds;
}

TEST(Recompute, IsTheCheapestOfAllSets) {
  mesh::DeviceSpec device;
  device.flops_per_second = {{"default", 1e12}};
  device.memory_bandwidth = kBandwidth;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const Forward forward = random_forward(seed);
    const auto pass = hlo::forward_pass(forward.module);
    ASSERT_TRUE(pass.has_value());
    std::vector<bool> allowed(forward.module.entry_computation().instructions.size());
    for (const InstructionId id : forward.values) allowed[static_cast<size_t>(id)] = id < pass->end;
    const RecomputeChooser chooser({forward.module, allowed, device});
    for (const double price : {1e-10, 1.5e-9, 2.5e-9, 4e-9, 1e-8, 1e-6}) {
      const Recomputation chosen = chooser.choose({1, 1, price});
      EXPECT_NEAR(cost_of(forward, chosen, price), brute_force(forward, pass->end, price), 1e-12)
          << "seed " << seed << ", price " << price;
    }
  }
}

TEST(Recompute, WhatASegmentHandsOnIsKept) {
  const hlo::Module module = hlo::program([&](ModuleBuilder& builder, ComputationBuilder& b) {
    const tensor::Shape shape = f32({16, 4});
    std::vector<InstructionId> values = {b.parameter(shape)};
    for (int k = 0; k < 8; ++k) values.push_back(b.op(Opcode::kTanh, shape, {values.back()}));
    const auto add = builder.reducer(Opcode::kAdd, tensor::DType::kF32);
    const InstructionId zero = b.scalar(tensor::DType::kF32, 0);
    const InstructionId loss = b.with_dimensions(Opcode::kReduce, f32({}), {values.back(), zero}, {0, 1}, {add});
    InstructionId gradient = values.back();
    for (size_t k = 8; k > 0; --k) gradient = b.op(Opcode::kMultiply, shape, {gradient, values[k]});
    return b.tuple({gradient, loss});
  });
  mesh::DeviceSpec device;
  device.memory_bandwidth = kBandwidth;
  std::vector<bool> allowed(module.entry_computation().instructions.size(), true);
  const RecomputeChooser chooser({module, allowed, device});
  ASSERT_TRUE(chooser.possible());
  EXPECT_TRUE(chooser.choose({4, 0, chooser.prices().back()}).names.empty());
  const size_t one = chooser.choose({4, 1, chooser.prices().back()}).names.size();
  const size_t three = chooser.choose({4, 3, chooser.prices().back()}).names.size();
  EXPECT_EQ(one, 1u);
  EXPECT_EQ(three, 3u);
}

TEST(MinCut, SplitsWhereItIsCheapest) {
  MinCut cut(4);
  cut.add_edge(0, 1, 5);
  cut.add_edge(1, 2, 2);
  cut.add_edge(0, 2, 1);
  cut.add_edge(2, 3, 9);
  EXPECT_EQ(cut.source_side(0, 3), (std::vector<bool>{true, true, false, false}));
}

}  // namespace
}  // namespace alpa::planner
