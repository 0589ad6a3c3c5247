#include "alpa/hlo/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alpa/hlo/edit.h"
#include "alpa/hlo/testing/programs.h"

namespace alpa::hlo {
namespace {

using testing::HasSubstr;

// The program is refused, and the message says `part`.
void expect_refused(const std::string& part, const BuildEntry& build) {
  try {
    program(build);
    ADD_FAILURE() << "accepted; expected: " << part;
  } catch (const InvalidArgumentError& error) {
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

// One operation without attributes.
BuildEntry op(Opcode opcode, const Shape& result, const std::vector<Shape>& operands) {
  return [=](ModuleBuilder&, ComputationBuilder& b) {
    std::vector<InstructionId> ids;
    for (const Shape& shape : operands) ids.push_back(b.parameter(shape));
    return b.op(opcode, result, ids);
  };
}

BuildEntry with_dims(Opcode opcode, const Shape& result, const std::vector<Shape>& operands,
                     const std::vector<int64_t>& dims) {
  return [=](ModuleBuilder&, ComputationBuilder& b) {
    std::vector<InstructionId> ids;
    for (const Shape& shape : operands) ids.push_back(b.parameter(shape));
    return b.with_dimensions(opcode, result, ids, dims);
  };
}

TEST(Verify, RejectsAnOperandThatDoesNotComeBefore) {
  expect_refused("negate.main.1: an operand does not come before it", [](ModuleBuilder&, ComputationBuilder& b) {
    b.parameter(f32({4}));
    return b.op(Opcode::kNegate, f32({4}), {1});
  });
}

TEST(Verify, RejectsAControlPredecessorThatDoesNotComeBefore) {
  Module module = program(op(Opcode::kNegate, f32({4}), {f32({4})}));
  module.entry_computation()[1].control_predecessors = {1};
  EXPECT_THROW(verify(module), InvalidArgumentError);
}

TEST(Verify, RejectsACalleeThatDoesNotComeBefore) {
  expect_refused("its callee does not come before it",
                 [](ModuleBuilder&, ComputationBuilder& b) { return b.calling(Opcode::kCall, f32({}), {}, {0}); });
}

TEST(Verify, RejectsANameThatIsUsedTwice) {
  Module module = program(op(Opcode::kNegate, f32({4}), {f32({4})}));
  module.entry_computation()[1].name = module.entry_computation()[0].name;
  EXPECT_THROW(verify(module), InvalidArgumentError);
}

TEST(Verify, RejectsWrongNumbersOfOperands) {
  expect_refused("it has 1 operands instead of 2", op(Opcode::kAdd, f32({4}), {f32({4})}));
  expect_refused("it has 2 operands instead of 1", op(Opcode::kNegate, f32({4}), {f32({4}), f32({4})}));
  expect_refused("it has 0 operands instead of at least 1", op(Opcode::kConcatenate, f32({4}), {}));
  expect_refused("it has 1 operands instead of 0", op(Opcode::kIota, f32({4}), {f32({4})}));
}

TEST(Verify, RejectsWrongNumbersOfCallees) {
  expect_refused("it calls 0 computations instead of 1", op(Opcode::kCall, f32({4}), {f32({4})}));
  expect_refused("it calls 0 computations instead of 2", op(Opcode::kWhile, f32({4}), {f32({4})}));
}

TEST(Verify, RejectsElementwiseOperandsOfOtherDimsOrTypes) {
  expect_refused("operand 1 is f32[5]", op(Opcode::kAdd, f32({4}), {f32({4}), f32({5})}));
  expect_refused("operand 0 has type f32", op(Opcode::kAnd, s32({4}), {f32({4}), s32({4})}));
  expect_refused("no array", op(Opcode::kNegate, f32({4}), {Shape::tuple({f32({4})})}));
  expect_refused("no predicate", op(Opcode::kCompare, s32({4}), {f32({4}), f32({4})}));
}

TEST(Verify, TakesScalarPredicatesAndBounds) {
  program(op(Opcode::kSelect, f32({4}), {pred({}), f32({4}), f32({4})}));
  program(op(Opcode::kClamp, f32({4}), {f32({}), f32({4}), f32({})}));
  expect_refused("operand 1 is f32[]", op(Opcode::kSelect, f32({4}), {pred({4}), f32({}), f32({4})}));
  expect_refused("its predicate is s32[4]", op(Opcode::kSelect, f32({4}), {s32({4}), f32({4}), f32({4})}));
  expect_refused("operand 1 is f32[]", op(Opcode::kClamp, f32({4}), {f32({4}), f32({}), f32({4})}));
}

TEST(Verify, RejectsABitcastConvertThatChangesTheBits) {
  program(op(Opcode::kBitcastConvert, Shape(DType::kU8, {4, 4}), {f32({4})}));
  expect_refused("the bits do not fit", op(Opcode::kBitcastConvert, Shape(DType::kU8, {4, 2}), {f32({4})}));
}

TEST(Verify, RejectsBadBroadcasts) {
  program(with_dims(Opcode::kBroadcast, f32({4, 8}), {f32({8})}, {1}));
  expect_refused("out of range", with_dims(Opcode::kBroadcast, f32({4, 8}), {f32({8})}, {2}));
  expect_refused("named twice", with_dims(Opcode::kBroadcast, f32({8, 8}), {f32({8, 8})}, {1, 1}));
  expect_refused("it maps 0 dims", with_dims(Opcode::kBroadcast, f32({4, 8}), {f32({8})}, {}));
  expect_refused("becomes dim 0", with_dims(Opcode::kBroadcast, f32({4, 8}), {f32({8})}, {0}));
}

TEST(Verify, RejectsBadPermutations) {
  expect_refused("named twice", with_dims(Opcode::kTranspose, f32({4, 4}), {f32({4, 4})}, {0, 0}));
  expect_refused("its permutation has 1 entries", with_dims(Opcode::kTranspose, f32({4, 4}), {f32({4, 4})}, {0}));
  expect_refused("its operands make f32[8,4]", with_dims(Opcode::kTranspose, f32({4, 8}), {f32({4, 8})}, {1, 0}));
  expect_refused("named twice", with_dims(Opcode::kReverse, f32({4}), {f32({4})}, {0, 0}));
}

TEST(Verify, RejectsAReshapeOfOtherSize) {
  expect_refused("numbers of elements", op(Opcode::kReshape, f32({4, 4}), {f32({15})}));
}

TEST(Verify, RejectsAnIotaDimOutOfRange) {
  expect_refused("out of range", with_dims(Opcode::kIota, s32({4}), {}, {1}));
  expect_refused("out of range", with_dims(Opcode::kIota, s32({4}), {}, {-1}));
  expect_refused("it names 0 dims", with_dims(Opcode::kIota, s32({4}), {}, {}));
}

TEST(Verify, RejectsAConcatenationThatDoesNotAddUp) {
  program(with_dims(Opcode::kConcatenate, f32({2, 7}), {f32({2, 3}), f32({2, 4})}, {1}));
  expect_refused("its operands make f32[2,7]",
                 with_dims(Opcode::kConcatenate, f32({2, 8}), {f32({2, 3}), f32({2, 4})}, {1}));
  expect_refused("differ in more than dim 1",
                 with_dims(Opcode::kConcatenate, f32({2, 7}), {f32({2, 3}), f32({3, 4})}, {1}));
  expect_refused("operands 0 and 1", with_dims(Opcode::kConcatenate, f32({2, 7}), {f32({2, 3}), f32({4})}, {1}));
  expect_refused("out of range", with_dims(Opcode::kConcatenate, f32({2, 7}), {f32({2, 3}), f32({2, 4})}, {2}));
}

TEST(Verify, RejectsSliceBoundsOutOfRange) {
  const auto slice = [](const Shape& result, std::vector<SliceDim> dims) {
    return [=](ModuleBuilder&, ComputationBuilder& b) { return b.slice(result, b.parameter(f32({8})), dims); };
  };
  program(slice(f32({3}), {{1, 7, 2}}));
  expect_refused("its bounds 1:9:1", slice(f32({8}), {{1, 9, 1}}));
  expect_refused("its bounds 5:4:1", slice(f32({0}), {{5, 4, 1}}));
  expect_refused("its bounds -1:4:1", slice(f32({5}), {{-1, 4, 1}}));
  expect_refused("its bounds 0:4:0", slice(f32({4}), {{0, 4, 0}}));
  expect_refused("it slices 0 dims", slice(f32({8}), {}));
  expect_refused("its operands make f32[3]", slice(f32({4}), {{1, 7, 2}}));
}

TEST(Verify, RejectsPaddingThatDoesNotFit) {
  const auto pad = [](const Shape& result, std::vector<PadDim> dims) {
    return [=](ModuleBuilder&, ComputationBuilder& b) {
      const InstructionId x = b.parameter(f32({4}));
      return b.pad(result, x, b.scalar(DType::kF32, 0), dims);
    };
  };
  program(pad(f32({10}), {{1, 2, 1}}));
  program(pad(f32({2}), {{-2, 0, 0}}));
  expect_refused("it pads 0 dims", pad(f32({4}), {}));
  expect_refused("its operands make f32[10]", pad(f32({9}), {{1, 2, 1}}));
  expect_refused("does not fit", pad(f32({4}), {{0, 0, -1}}));
  expect_refused("does not fit", pad(f32({0}), {{-5, 0, 0}}));
  expect_refused("does not fit", pad(f32({4}), {{INT64_MAX, INT64_MAX, INT64_MAX}}));
}

TEST(Verify, RejectsDynamicSlicesThatDoNotFit) {
  const auto slice = [](const Shape& result, const Shape& index, int indices) {
    return [=](ModuleBuilder&, ComputationBuilder& b) {
      std::vector<InstructionId> operands{b.parameter(f32({8, 4}))};
      for (int k = 0; k < indices; ++k) operands.push_back(b.parameter(index));
      return b.dynamic_slice(result, operands);
    };
  };
  program(slice(f32({1, 4}), s32({}), 2));
  expect_refused("it has 1 indices", slice(f32({1, 4}), s32({}), 1));
  expect_refused("no integer", slice(f32({1, 4}), f32({}), 2));
  expect_refused("no integer", slice(f32({1, 4}), s32({1}), 2));
  expect_refused("the slice has size 9", slice(f32({9, 4}), s32({}), 2));
  expect_refused("the update has size 9", op(Opcode::kDynamicUpdateSlice, f32({8}), {f32({8}), f32({9}), s32({})}));
  expect_refused("the update has 2 dims", op(Opcode::kDynamicUpdateSlice, f32({8}), {f32({8}), f32({1, 1}), s32({})}));
  expect_refused("its operands make f32[8]", op(Opcode::kDynamicUpdateSlice, f32({4}), {f32({8}), f32({1}), s32({})}));
}

TEST(Verify, RejectsDotDimsThatDoNotPair) {
  const auto dot = [](const Shape& result, const DotDims& dims) {
    return [=](ModuleBuilder&, ComputationBuilder& b) {
      const InstructionId lhs = b.parameter(f32({2, 3, 4}));
      return b.dot(result, lhs, b.parameter(f32({2, 4, 5})), dims);
    };
  };
  program(dot(f32({2, 3, 5}), {{2}, {1}, {0}, {0}}));
  expect_refused("out of range", dot(f32({2, 3, 5}), {{3}, {1}, {0}, {0}}));
  expect_refused("named twice", dot(f32({2, 3, 5}), {{0}, {1}, {0}, {0}}));
  expect_refused("it pairs", dot(f32({2, 3, 5}), {{2}, {1}, {0}, {}}));
  expect_refused("differ in size", dot(f32({2, 4, 5}), {{1}, {1}, {0}, {0}}));
  expect_refused("but its operands make [2,3,5]", dot(f32({2, 5, 3}), {{2}, {1}, {0}, {0}}));
}

BuildEntry convolution(const Shape& result, const WindowDim& window,
                       const std::function<void(ConvolutionDims&)>& change = {}, size_t windows = 2) {
  ConvolutionDims dims{0, 3, 2, 3, 0, 3, {1, 2}, {0, 1}, {1, 2}, 1, 1};
  if (change) change(dims);
  return [=](ModuleBuilder&, ComputationBuilder& b) {
    const InstructionId input = b.parameter(f32({2, 8, 8, 4}));
    return b.convolution(result, input, b.parameter(f32({3, 3, 4, 6})), std::vector<WindowDim>(windows, window), dims);
  };
}

TEST(Verify, RejectsConvolutionsThatDoNotFit) {
  const WindowDim same{3, 1, 1, 1, 1, 1, false};
  const Shape result = f32({2, 8, 8, 6});
  program(convolution(result, same));
  expect_refused("named twice", convolution(result, same, [](ConvolutionDims& dims) { dims.input_feature = 0; }));
  expect_refused("out of range",
                 convolution(result, same, [](ConvolutionDims& dims) { dims.kernel_spatial = {0, 4}; }));
  expect_refused("are not all of", convolution(result, same, [](ConvolutionDims& dims) { dims.output_spatial = {1}; }));
  expect_refused("its window has 1 dims", convolution(result, same, {}, 1));
  expect_refused("all are at least 1", convolution(result, {3, 0, 1, 1, 1, 1, false}));
  expect_refused("all are at least 1", convolution(result, {3, 1, 1, 1, 0, 1, false}));
  expect_refused("all are at least 1", convolution(result, {0, 1, 1, 1, 1, 1, false}));
  expect_refused("its window has size 2", convolution(result, {2, 1, 1, 1, 1, 1, false}));
  expect_refused("spatial dim 0 is 8, but its operands make 6", convolution(result, {3, 1, 0, 0, 1, 1, false}));
  expect_refused("do not meet a kernel",
                 convolution(result, same, [](ConvolutionDims& dims) { dims.feature_groups = 2; }));
  expect_refused("feature and", convolution(result, same, [](ConvolutionDims& dims) { dims.feature_groups = -1; }));
  expect_refused("do not divide", convolution(result, same, [](ConvolutionDims& dims) { dims.batch_groups = 4; }));
  expect_refused("another batch", convolution(f32({3, 8, 8, 6}), same));
}

BuildEntry reduce(const Shape& result, const std::vector<int64_t>& dims,
                  const std::function<ComputationId(ModuleBuilder&)>& reducer) {
  return [=](ModuleBuilder& module, ComputationBuilder& b) {
    const InstructionId x = b.parameter(f32({2, 3}));
    return b.with_dimensions(Opcode::kReduce, result, {x, b.scalar(DType::kF32, 0)}, dims, {reducer(module)});
  };
}

TEST(Verify, RejectsReductionsThatDoNotFit) {
  const auto add = [](ModuleBuilder& module) { return module.reducer(Opcode::kAdd, DType::kF32); };
  program(reduce(f32({2}), {1}, add));
  expect_refused("out of range", reduce(f32({2}), {2}, add));
  expect_refused("named twice", reduce(f32({2}), {1, 1}, add));
  expect_refused("its operands make f32[2]", reduce(f32({3}), {1}, add));
  expect_refused("is s32[] for elements f32", reduce(f32({2}), {1}, [](ModuleBuilder& module) {
                   return module.reducer(Opcode::kAdd, DType::kS32);
                 }));
  expect_refused("has 1 parameters instead of 2", reduce(f32({2}), {1}, [](ModuleBuilder& module) {
                   return unary(module, "one", f32({}), [](ComputationBuilder&, InstructionId p) { return p; });
                 }));
  expect_refused("one initial value an array", [&](ModuleBuilder& module, ComputationBuilder& b) {
    const InstructionId x = b.parameter(f32({2, 3}));
    return b.with_dimensions(Opcode::kReduce, f32({2}), {x, x, b.scalar(DType::kF32, 0)}, {1}, {add(module)});
  });
  expect_refused("the initial value of", [&](ModuleBuilder& module, ComputationBuilder& b) {
    const InstructionId x = b.parameter(f32({2, 3}));
    return b.with_dimensions(Opcode::kReduce, f32({2}), {x, b.parameter(f32({3}))}, {1}, {add(module)});
  });
}

TEST(Verify, RejectsWindowedReductionsThatDoNotFit) {
  const auto pool = [](const Shape& result, std::vector<WindowDim> window) {
    return [=](ModuleBuilder& module, ComputationBuilder& b) {
      const InstructionId x = b.parameter(f32({8}));
      return b.windowed(Opcode::kReduceWindow, result, {x, b.scalar(DType::kF32, 0)}, window,
                        {module.reducer(Opcode::kAdd, DType::kF32)});
    };
  };
  program(pool(f32({4}), {{2, 2, 0, 0, 1, 1, false}}));
  expect_refused("its window has 0 dims", pool(f32({4}), {}));
  expect_refused("its operands make f32[4]", pool(f32({5}), {{2, 2, 0, 0, 1, 1, false}}));
  expect_refused("all are at least 1", pool(f32({4}), {{2, -2, 0, 0, 1, 1, false}}));
  expect_refused("its source is f32[3]", [](ModuleBuilder& module, ComputationBuilder& b) {
    ComputationBuilder ge("ge");
    const InstructionId lhs = ge.parameter(f32({}));
    const InstructionId root = ge.compare("GE", lhs, ge.parameter(f32({})));
    const ComputationId select = module.add(std::move(ge).build(root));
    const InstructionId x = b.parameter(f32({8}));
    const InstructionId source = b.parameter(f32({3}));
    return b.windowed(Opcode::kSelectAndScatter, f32({8}), {x, source, b.scalar(DType::kF32, 0)},
                      {{2, 2, 0, 0, 1, 1, false}}, {select, module.reducer(Opcode::kAdd, DType::kF32)});
  });
}

TEST(Verify, RejectsSortsThatDoNotFit) {
  const auto sort = [](const Shape& result, int64_t dim, bool predicate) {
    return [=](ModuleBuilder& module, ComputationBuilder& b) {
      ComputationBuilder c("less");
      const InstructionId lhs = c.parameter(f32({}));
      const InstructionId rhs = c.parameter(f32({}));
      const ComputationId comparator = module.add(std::move(c).build(predicate ? c.compare("LT", lhs, rhs) : lhs));
      return b.with_dimensions(Opcode::kSort, result, {b.parameter(f32({4}))}, {dim}, {comparator});
    };
  };
  program(sort(f32({4}), 0, true));
  expect_refused("out of range", sort(f32({4}), 1, true));
  expect_refused("instead of a pred", sort(f32({4}), 0, false));
  expect_refused("its operands make f32[4]", sort(f32({5}), 0, true));
}

BuildEntry gather(const Shape& result, const std::function<void(GatherDims&)>& change = {}) {
  GatherDims dims{{1}, {0}, {0}, {}, {}, {1, 24}, 1};
  if (change) change(dims);
  return [=](ModuleBuilder&, ComputationBuilder& b) {
    const InstructionId table = b.parameter(f32({16, 24}));
    return b.gather(result, table, b.parameter(s32({8, 1})), dims);
  };
}

TEST(Verify, RejectsGathersThatDoNotFit) {
  const Shape result = f32({8, 24});
  program(gather(result));
  expect_refused("index vector dim 3", gather(result, [](GatherDims& dims) { dims.index_vector_dim = 3; }));
  expect_refused("index vectors have 8 entries", gather(result, [](GatherDims& dims) { dims.index_vector_dim = 0; }));
  expect_refused("indexed dim 2", gather(result, [](GatherDims& dims) { dims.start_index_map = {2}; }));
  expect_refused("window dim 2", gather(result, [](GatherDims& dims) { dims.collapsed = {2}; }));
  expect_refused("slice size 25", gather(result, [](GatherDims& dims) { dims.slice_sizes = {1, 25}; }));
  expect_refused("slice size 2", gather(result, [](GatherDims& dims) { dims.slice_sizes = {2, 24}; }));
  expect_refused("it has 1 slice sizes", gather(result, [](GatherDims& dims) { dims.slice_sizes = {1}; }));
  expect_refused("it has 0 offset dims", gather(result, [](GatherDims& dims) { dims.offset = {}; }));
  expect_refused("offset dim 2", gather(result, [](GatherDims& dims) { dims.offset = {2}; }));
  expect_refused("do not pair", gather(result, [](GatherDims& dims) { dims.indices_batching = {0}; }));
  expect_refused("its operands make f32[8,24]", gather(f32({24, 8})));
}

BuildEntry scatter(const Shape& updates, const std::function<void(ScatterDims&)>& change = {},
                   DType combined = DType::kF32) {
  ScatterDims dims{{1}, {0}, {0}, {}, {}, 1};
  if (change) change(dims);
  return [=](ModuleBuilder& module, ComputationBuilder& b) {
    const InstructionId table = b.parameter(f32({16, 24}));
    const InstructionId indices = b.parameter(s32({8, 1}));
    return b.scatter(table, indices, b.parameter(updates), dims, module.reducer(Opcode::kAdd, combined));
  };
}

TEST(Verify, RejectsScattersThatDoNotFit) {
  program(scatter(f32({8, 24})));
  expect_refused("window dim of the update 2",
                 scatter(f32({8, 24}), [](ScatterDims& dims) { dims.update_window = {2}; }));
  expect_refused("windows of 0 dims", scatter(f32({8, 24}), [](ScatterDims& dims) { dims.update_window = {}; }));
  expect_refused("windows of 1 dims", scatter(f32({8, 24}), [](ScatterDims& dims) { dims.inserted_window = {}; }));
  expect_refused("indexed dim 7", scatter(f32({8, 24}), [](ScatterDims& dims) { dims.scatter_to_operand = {7}; }));
  expect_refused("a window of size 25", scatter(f32({8, 25})));
  expect_refused("is not that of the indices", scatter(f32({7, 24})));
  expect_refused("is s32[] for elements f32", scatter(f32({8, 24}), {}, DType::kS32));
}

TEST(Verify, RejectsTupleElementsThatAreNotThere) {
  expect_refused("tuple index 2 is out of range", [](ModuleBuilder&, ComputationBuilder& b) {
    const InstructionId tuple = b.tuple({b.parameter(f32({4})), b.parameter(f32({5}))});
    const InstructionId element = b.get_tuple_element(tuple, 0);
    Computation computation = std::move(b).build(element);
    set_tuple_index(computation[element], 2);
    Module module;
    module.computations.push_back(std::move(computation));
    verify(module);
    return element;
  });
  expect_refused("no tuple", op(Opcode::kGetTupleElement, f32({4}), {f32({4})}));
  expect_refused("is no tuple of 1 elements", op(Opcode::kTuple, f32({4}), {f32({4})}));
  expect_refused("element 0 is f32[5], its operand f32[4]", op(Opcode::kTuple, Shape::tuple({f32({5})}), {f32({4})}));
  expect_refused("its operand's f32[4]", op(Opcode::kOptimizationBarrier, f32({5}), {f32({4})}));
}

TEST(Verify, RejectsLoopsWhoseShapesDoNotAgree) {
  const auto loop = [](const Shape& body_result, const Shape& condition_parameter, const Shape& condition_result) {
    return [=](ModuleBuilder& module, ComputationBuilder& b) {
      const auto convert = [](const Shape& to) {
        return [=](ComputationBuilder& c, InstructionId p) { return c.custom_call(to, {p}, "made"); };
      };
      const ComputationId body = unary(module, "body", f32({4}), convert(body_result));
      const ComputationId condition = unary(module, "condition", condition_parameter, convert(condition_result));
      return b.calling(Opcode::kWhile, f32({4}), {b.parameter(f32({4}))}, {body, condition});
    };
  };
  program(loop(f32({4}), f32({4}), pred({})));
  expect_refused("body makes f32[5] instead of f32[4]", loop(f32({5}), f32({4}), pred({})));
  expect_refused("parameter 0 of condition is f32[5]", loop(f32({4}), f32({5}), pred({})));
  expect_refused("condition makes s32[] instead of pred[]", loop(f32({4}), f32({4}), s32({})));
}

TEST(Verify, RejectsBranchesWhoseShapesDoNotAgree) {
  const auto conditional = [](const Shape& chooser, int branches, const Shape& result) {
    return [=](ModuleBuilder& module, ComputationBuilder& b) {
      std::vector<InstructionId> operands{b.parameter(chooser)};
      std::vector<ComputationId> called;
      for (int k = 0; k < branches; ++k) {
        called.push_back(unary(module, "branch" + std::to_string(k), f32({4}),
                               [](ComputationBuilder&, InstructionId p) { return p; }));
        operands.push_back(b.parameter(f32({4})));
      }
      return b.calling(Opcode::kConditional, result, operands, called);
    };
  };
  program(conditional(pred({}), 2, f32({4})));
  program(conditional(s32({}), 3, f32({4})));
  expect_refused("4 operands and 3 branches", conditional(pred({}), 3, f32({4})));
  expect_refused("branch0 makes f32[4] instead of f32[5]", conditional(pred({}), 2, f32({5})));
  expect_refused("it chooses by f32[]", conditional(f32({}), 2, f32({4})));
}

TEST(Verify, RejectsCallsThatDoNotFitTheirCallee) {
  const auto call = [](const std::vector<Shape>& operands, const Shape& result) {
    return [=](ModuleBuilder& module, ComputationBuilder& b) {
      const ComputationId callee =
          unary(module, "callee", f32({4}), [](ComputationBuilder&, InstructionId p) { return p; });
      std::vector<InstructionId> ids;
      for (const Shape& shape : operands) ids.push_back(b.parameter(shape));
      return b.calling(Opcode::kCall, result, ids, {callee});
    };
  };
  program(call({f32({4})}, f32({4})));
  expect_refused("callee has 1 parameters instead of 2", call({f32({4}), f32({4})}, f32({4})));
  expect_refused("parameter 0 of callee is f32[4], but it gets f32[5]", call({f32({5})}, f32({4})));
  expect_refused("callee makes f32[4] instead of f32[5]", call({f32({4})}, f32({5})));
}

TEST(Verify, RejectsCalleesThatDoubleWithEachLevel) {
  expect_refused("once its callees are counted at each use", [](ModuleBuilder& module, ComputationBuilder& b) {
    ComputationId callee = unary(module, "level0", f32({}), [](ComputationBuilder&, InstructionId p) { return p; });
    for (int level = 1; level < 40; ++level) {
      callee = unary(module, "level" + std::to_string(level), f32({}), [&](ComputationBuilder& c, InstructionId p) {
        return c.calling(Opcode::kCall, f32({}), {c.calling(Opcode::kCall, f32({}), {p}, {callee})}, {callee});
      });
    }
    return b.calling(Opcode::kCall, f32({}), {b.parameter(f32({}))}, {callee});
  });
}

TEST(Verify, RejectsAliasesThatAreNotThere) {
  Module module = program(
      [](ModuleBuilder&, ComputationBuilder& b) { return b.tuple({b.parameter(f32({4})), b.parameter(f32({5}))}); });
  const auto refused = [&](const std::vector<Alias>& aliases) {
    set_input_output_aliases(module, aliases);
    EXPECT_THROW(verify(module), InvalidArgumentError);
  };
  set_input_output_aliases(module, {{0, 0}, {1, 1}});
  verify(module);
  refused({{2, 0}});
  refused({{0, 2}});
  refused({{-1, 0}});
  refused({{0, 1}});
  refused({{0, 0}, {0, 0}});
}

TEST(Verify, TakesWhatItDoesNotKnow) {
  program(op(Opcode::kCustomCall, Shape::tuple({f32({4}), s32({})}), {f32({4})}));
  program(op(Opcode::kBitcast, f32({2, 2}), {f32({4})}));
  program(op(Opcode::kAllGather, f32({8}), {f32({4})}));
  program(op(Opcode::kAfterAll, Shape(DType::kToken, {}), {}));
}

}  // namespace
}  // namespace alpa::hlo
