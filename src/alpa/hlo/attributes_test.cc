#include "alpa/hlo/attributes.h"

#include <gtest/gtest.h>

#include "alpa/hlo/edit.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/hlo/testing/programs.h"

namespace alpa::hlo {
namespace {

const Instruction& root(const Module& module) { return module.entry_computation()[module.entry_computation().root]; }

TEST(Attributes, AreWhatTheBuilderWasGiven) {
  const ConvolutionDims dims{0, 3, 2, 3, 0, 3, {1, 2}, {0, 1}, {1, 2}, 2, 1};
  const WindowDim window_dim{3, 1, 1, 1, 1, 1, true};
  const Module module = program([&](ModuleBuilder&, ComputationBuilder& b) {
    const InstructionId x = b.parameter(f32({2, 8, 8, 8}));
    return b.convolution(f32({2, 8, 8, 6}), x, b.parameter(f32({3, 3, 4, 6})), {window_dim, window_dim}, dims);
  });
  const ConvolutionDims read = convolution_dims(root(module));
  EXPECT_EQ(read.input_spatial, dims.input_spatial);
  EXPECT_EQ(read.kernel_output_feature, 3);
  EXPECT_EQ(read.feature_groups, 2);
  ASSERT_EQ(window(root(module)).size(), 2u);
  EXPECT_EQ(window(root(module))[1].padding_low, 1);
  EXPECT_TRUE(window(root(module))[1].reversal);
  EXPECT_FALSE(window_dim.is_trivial());
}

TEST(Attributes, SurviveTheirBytes) {
  const Module module = read_module(write_module(program([](ModuleBuilder&, ComputationBuilder& b) {
    const InstructionId table = b.parameter(f32({16, 24}), "table");
    return b.gather(f32({8, 24}), table, b.parameter(s32({8, 1})), {{1}, {0}, {0}, {}, {}, {1, 24}, 1});
  })));
  EXPECT_EQ(gather_dims(root(module)).slice_sizes, (std::vector<int64_t>{1, 24}));
  EXPECT_EQ(op_name(module.entry_computation()[0]), "table");
  EXPECT_EQ(parameter_number(module.entry_computation()[1]), 1);
}

TEST(Attributes, ConstantsOfAllTypesHoldTheirValue) {
  for (const DType dtype : {DType::kPred, DType::kS8, DType::kU8, DType::kS16, DType::kU16, DType::kS32, DType::kU32,
                            DType::kS64, DType::kU64, DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    const Module module =
        read_module(write_module(program([&](ModuleBuilder&, ComputationBuilder& b) { return b.scalar(dtype, 1); })));
    const auto value = constant_value(root(module));
    ASSERT_TRUE(value.has_value()) << tensor::name(dtype);
    EXPECT_EQ(value->at(0), 1) << tensor::name(dtype);
    EXPECT_EQ(integer_constant(root(module)).has_value(), dtype == DType::kPred || tensor::is_integral(dtype))
        << tensor::name(dtype);
  }
}

TEST(Attributes, OfACopyChangeAlone) {
  const Module module = program(
      [](ModuleBuilder&, ComputationBuilder& b) { return b.op(Opcode::kNegate, f32({4}), {b.parameter(f32({4}))}); });
  Instruction copy = root(module);
  set_op_name(copy, "other");
  set_sharding(copy, sharding::OpSharding{});
  EXPECT_EQ(op_name(root(module)), "");
  EXPECT_FALSE(sharding(root(module)).has_value());
  EXPECT_EQ(op_name(copy), "other");
  EXPECT_TRUE(sharding(copy).has_value());
}

TEST(Attributes, SignaturesTellReducersAndInitialValuesApart) {
  const auto of = [](Opcode opcode, double init) {
    const Module module = program([&](ModuleBuilder& m, ComputationBuilder& b) {
      const InstructionId x = b.parameter(f32({4, 8}));
      return b.with_dimensions(Opcode::kReduce, f32({4}), {x, b.scalar(DType::kF32, init)}, {1},
                               {m.reducer(opcode, DType::kF32)});
    });
    return signature(module, module.entry_computation(), root(module));
  };
  EXPECT_EQ(of(Opcode::kAdd, 0), of(Opcode::kAdd, 0));
  EXPECT_NE(of(Opcode::kAdd, 0), of(Opcode::kAdd, 1));
  EXPECT_NE(of(Opcode::kAdd, 0), of(Opcode::kMaximum, 0));
}

TEST(Attributes, SignaturesTellAReducersWiringAndRootApart) {
  const Shape kScalar = f32({});
  const auto of = [&](const std::function<InstructionId(ComputationBuilder&)>& build) {
    const Module module = program([&](ModuleBuilder& m, ComputationBuilder& b) {
      ComputationBuilder reducer("reducer");
      const InstructionId result = build(reducer);
      const ComputationId id = m.add(std::move(reducer).build(result));
      const InstructionId x = b.parameter(f32({4, 8}));
      return b.with_dimensions(Opcode::kReduce, f32({4}), {x, b.scalar(DType::kF32, 0)}, {1}, {id});
    });
    return signature(module, module.entry_computation(), root(module));
  };
  const auto wired = [&](int lhs, int rhs, int result) {
    return of([&](ComputationBuilder& b) {
      b.parameter(kScalar);
      b.parameter(kScalar);
      const InstructionId sum = b.op(Opcode::kAdd, kScalar, {lhs, rhs});
      return result == 2 ? sum : result;
    });
  };
  EXPECT_EQ(wired(0, 1, 2), wired(0, 1, 2));
  EXPECT_NE(wired(0, 1, 2), wired(0, 1, 1));  // gives its second parameter
  EXPECT_NE(wired(0, 1, 2), wired(0, 0, 2));  // twice the first
}

TEST(Builder, NumbersWhatItBuildsUniquely) {
  const Module module = program([](ModuleBuilder& m, ComputationBuilder& b) {
    const InstructionId x = b.parameter(f32({4, 8}));
    const InstructionId first = b.with_dimensions(Opcode::kReduce, f32({4}), {x, b.scalar(DType::kF32, 0)}, {1},
                                                  {m.reducer(Opcode::kAdd, DType::kF32)});
    return b.tuple({first, b.with_dimensions(Opcode::kReduce, f32({4}), {x, b.scalar(DType::kF32, 0)}, {1},
                                             {m.reducer(Opcode::kAdd, DType::kF32)})});
  });
  const Module again = read_module(write_module(module));  // refuses ids and names used twice
  EXPECT_EQ(instruction_count(again), instruction_count(module));
  EXPECT_EQ(users(module.entry_computation())[0], (std::vector<InstructionId>{2, 4}));
}

TEST(Builder, WritesDonations) {
  Module module = program(
      [](ModuleBuilder&, ComputationBuilder& b) { return b.tuple({b.parameter(f32({4})), b.parameter(f32({5}))}); });
  set_input_output_aliases(module, {{1, 1}});
  const auto aliases = input_output_aliases(read_module(write_module(module)));
  ASSERT_EQ(aliases.size(), 1u);
  EXPECT_EQ(aliases[0].output, 1);
  EXPECT_EQ(aliases[0].parameter, 1);
}

}  // namespace
}  // namespace alpa::hlo
