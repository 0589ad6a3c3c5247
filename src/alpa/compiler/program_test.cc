#include "alpa/compiler/program.h"

#include <gmock/gmock.h>

#include "alpa/compiler/plan_program.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/hlo/testing/programs.h"

namespace alpa::compiler {
namespace {

template <typename E, typename Statement>
void expect_error(Statement statement, const std::string& part) {
  EXPECT_THAT(statement, testing::ThrowsMessage<E>(testing::HasSubstr(part)));
}

const hlo::Shape kMatrix = hlo::f32({8, 16});

// Two arrays and a batch; gives both arrays and a scalar back.
hlo::Module step() {
  return hlo::program([](hlo::ModuleBuilder& module, hlo::ComputationBuilder& b) {
    const hlo::InstructionId w = b.parameter(kMatrix, "w");
    const hlo::InstructionId v = b.parameter(kMatrix, "v");
    const hlo::InstructionId x = b.parameter(kMatrix, "x");
    const hlo::InstructionId next_w = b.op(hlo::Opcode::kAdd, kMatrix, {w, x});
    const hlo::InstructionId next_v = b.op(hlo::Opcode::kMultiply, kMatrix, {v, x});
    const hlo::InstructionId loss =
        b.with_dimensions(hlo::Opcode::kReduce, hlo::f32({}), {next_w, b.scalar(hlo::DType::kF32, 0)}, {0, 1},
                          {module.reducer(hlo::Opcode::kAdd, hlo::DType::kF32)});
    return b.tuple({next_w, next_v, loss});
  });
}

hlo::Module donating(const std::vector<hlo::Alias>& aliases) {
  hlo::Module module = step();
  hlo::set_input_output_aliases(module, aliases);
  return module;
}

Program loaded(const hlo::Module& module, const std::optional<Meta>& meta = std::nullopt) {
  return load_program(hlo::write_module(module), "test", meta, {});
}

// Feeds by output; -1: none.
Meta meta_feeding(const std::vector<int>& feeds) {
  Meta meta;
  for (const char* name : {"w", "v", "x"}) {
    InputMeta input;
    input.name = name;
    input.role = Role::kParams;
    input.shape = kMatrix;
    meta.inputs.push_back(std::move(input));
  }
  for (size_t k = 0; k < feeds.size(); ++k) {
    OutputMeta output{.name = "out." + std::to_string(k), .role = Role::kUnknown, .feeds_input = std::nullopt};
    if (feeds[k] >= 0) output.feeds_input = feeds[k];
    meta.outputs.push_back(output);
  }
  return meta;
}

std::vector<std::pair<int64_t, int64_t>> donations(const Program& program) {
  std::vector<std::pair<int64_t, int64_t>> result;
  for (const hlo::Alias& alias : hlo::input_output_aliases(program.module))
    result.emplace_back(alias.output, alias.parameter);
  return result;
}

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

TEST(LoadProgram, KeepsDonationsThatOutputsFeed) {
  const Program program = loaded(donating({{0, 0}, {1, 1}}));
  EXPECT_EQ(donations(program), (Pairs{{0, 0}, {1, 1}}));
  EXPECT_TRUE(program.unfed_donations.empty());
  EXPECT_NO_THROW(check_steps(program, 5));
}

TEST(LoadProgram, DropsDonationsThatNothingFeeds) {
  const Program program = loaded(donating({{0, 0}, {1, 1}}), meta_feeding({0, -1, -1}));
  EXPECT_EQ(donations(program), (Pairs{{0, 0}}));
  EXPECT_EQ(program.unfed_donations, std::vector<int>{1});
  EXPECT_NO_THROW(check_steps(program, 1));
  expect_error<InvalidArgumentError>([&] { check_steps(program, 2); }, "input v");
}

TEST(LoadProgram, DonatesToTheOutputThatFeeds) {
  const Program program = loaded(donating({{0, 0}, {1, 1}}), meta_feeding({1, 0, -1}));
  EXPECT_EQ(donations(program), (Pairs{{0, 1}, {1, 0}}));
}

TEST(LoadProgram, ADonatedBatchIsTheSameInEachStep) {
  Meta meta = meta_feeding({0, -1, -1});
  meta.inputs[1].role = Role::kBatch;
  meta.inputs[1].batch_dim = 0;
  EXPECT_NO_THROW(check_steps(loaded(donating({{0, 0}, {1, 1}}), meta), 2));
}

TEST(LoadProgram, RejectsTwoOutputsThatFeedOneInput) {
  expect_error<InvalidArgumentError>([&] { loaded(step(), meta_feeding({0, 0, -1})); }, "out.0 and out.1");
}

TEST(LoadProgram, WhatIsNotDonatedIsTheBatchIfSomethingIs) {
  const Program known = loaded(donating({{0, 0}, {1, 1}}));
  EXPECT_EQ(known.meta.inputs[2].role, Role::kBatch);
  EXPECT_EQ(known.meta.inputs[2].batch_dim, 0);
  EXPECT_EQ(known.meta.inputs[0].role, Role::kUnknown);
  const Program unknown = loaded(step());
  for (const InputMeta& input : unknown.meta.inputs) {
    EXPECT_EQ(input.role, Role::kUnknown) << input.name;
    EXPECT_FALSE(input.batch_dim.has_value()) << input.name;
  }
}

PlanOptions eight(Method method) {
  PlanOptions options;
  options.method = method;
  options.mesh = mesh::LogicalMesh({8});
  options.cluster = mesh::local_cpu(8);
  return options;
}

TEST(PlanProgram, DataParallelismAsksForAnUnknownBatch) {
  expect_error<InvalidArgumentError>([&] { plan_program(loaded(step()), eight(Method::kData)); }, "--meta");
  const plan::Plan plan = plan_program(loaded(donating({{0, 0}, {1, 1}})), eight(Method::kData));
  EXPECT_EQ(plan.inputs[2].spec, sharding::parse_spec("(x,None)", plan.mesh, 2));
  EXPECT_EQ(plan.inputs[0].spec, sharding::ShardingSpec::replicated(2));
}

TEST(PlanProgram, AnEmptyBatchDoesNotDivide) {
  const Program program = [] {
    hlo::Module module = hlo::program([](hlo::ModuleBuilder&, hlo::ComputationBuilder& b) {
      const hlo::InstructionId w = b.parameter(hlo::f32({0, 8}));
      return b.tuple({b.op(hlo::Opcode::kAdd, hlo::f32({0, 8}), {w, b.parameter(hlo::f32({0, 8}))})});
    });
    hlo::set_input_output_aliases(module, {{0, 0}});
    return loaded(module);
  }();
  expect_error<InvalidArgumentError>([&] { plan_program(program, eight(Method::kData)); }, "is 0, no multiple of 8");
  EXPECT_NO_THROW(plan_program(program, eight(Method::kShard)));
}

// State that is fed but not donated is there twice.
TEST(PlanProgram, MemoryCountsWhatIsNotDonatedTwice) {
  const auto memory = [](const Program& program) {
    PlanOptions options = eight(Method::kShard);
    options.constraints = {{"*", "(None,None)"}};
    return plan_program(program, options).predicted_memory_per_device_bytes;
  };
  const int64_t bytes = tensor::byte_size(kMatrix);
  const int64_t donated = memory(loaded(donating({{0, 0}, {1, 1}})));
  const int64_t kept = memory(loaded(step(), meta_feeding({0, 1, -1})));
  EXPECT_GE(kept, 5 * bytes);
  EXPECT_GT(kept, donated);
}

// No device can combine the bits of its own part: the input is placed anew, and a cap must count that.
TEST(PlanProgram, MemoryCountsWhatChangesOfPlacementMake) {
  const hlo::Shape whole(hlo::DType::kS32, {8000, 8});
  const Program program = loaded(hlo::program([&](hlo::ModuleBuilder& module, hlo::ComputationBuilder& b) {
    return b.with_dimensions(hlo::Opcode::kReduce, hlo::s32({8}), {b.parameter(whole), b.scalar(hlo::DType::kS32, 0)},
                             {0}, {module.reducer(hlo::Opcode::kOr, hlo::DType::kS32)});
  }));
  PlanOptions options = eight(Method::kShard);
  options.constraints = {{"*", "(x,None)"}};
  const int64_t predicted = plan_program(program, options).predicted_memory_per_device_bytes;
  EXPECT_GE(predicted, tensor::byte_size(whole) / 8 * 2);
  options.memory_cap_bytes = predicted;
  EXPECT_LE(plan_program(program, options).predicted_memory_per_device_bytes, predicted);
  options.memory_cap_bytes = predicted - 1;
  EXPECT_THROW(plan_program(program, options), InfeasibleError);
}

TEST(LoadProgram, ShardingHintsAreDroppedAndShardedProgramsRefused) {
  const auto calling = [](const std::string& target) {
    return loaded(hlo::program([&](hlo::ModuleBuilder&, hlo::ComputationBuilder& b) {
      return b.custom_call(kMatrix, {b.op(hlo::Opcode::kTanh, kMatrix, {b.parameter(kMatrix)})}, target);
    }));
  };
  EXPECT_EQ(calling("Sharding").module.entry_computation().size(), 2);
  for (const char* target : {"SPMDFullToShardShape", "SPMDShardToFullShape", "xla.sdy.GlobalToLocalShape"})
    expect_error<UnsupportedError>([&] { calling(target); }, "sharded already");
}

// Costs above the solver's range change its unit and nothing else.
TEST(PlanProgram, LoopsOfVeryManyTurnsHaveAFiniteCost) {
  const auto cost = [](double turns) {
    const Program program = loaded(hlo::program([&](hlo::ModuleBuilder& module, hlo::ComputationBuilder& b) {
      const hlo::Shape count(hlo::DType::kS64, {});
      const hlo::Shape state = hlo::Shape::tuple({count, hlo::f32({64, 64})});
      const auto body = hlo::unary(module, "body", state, [&](hlo::ComputationBuilder& c, hlo::InstructionId p) {
        const hlo::InstructionId next =
            c.op(hlo::Opcode::kAdd, count, {c.get_tuple_element(p, 0), c.scalar(hlo::DType::kS64, 1)});
        const hlo::InstructionId x = c.get_tuple_element(p, 1);
        return c.tuple({next, c.dot(hlo::f32({64, 64}), x, x, {{1}, {0}, {}, {}})});
      });
      const auto condition =
          hlo::unary(module, "condition", state, [&](hlo::ComputationBuilder& c, hlo::InstructionId p) {
            return c.compare("LT", c.get_tuple_element(p, 0), c.scalar(hlo::DType::kS64, turns));
          });
      const hlo::InstructionId init = b.tuple({b.scalar(hlo::DType::kS64, 0), b.parameter(hlo::f32({64, 64}))});
      return b.calling(hlo::Opcode::kWhile, state, {init}, {body, condition});
    }));
    return plan_program(program, eight(Method::kShard)).objective_seconds;
  };
  const double one = cost(1e6) / 1e6;
  EXPECT_NEAR(cost(4e8) / 4e8, one, 1e-6 * one);
  EXPECT_NEAR(cost(9e18) / 9e18, one, 1e-6 * one);
}

}  // namespace
}  // namespace alpa::compiler
