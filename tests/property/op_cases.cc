#include "op_cases.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "alpa/hlo/builder.h"

namespace alpa::property {
namespace {

using hlo::ComputationBuilder;
using hlo::InstructionId;
using hlo::ModuleBuilder;
using hlo::Opcode;
using tensor::DType;
using tensor::Shape;

Shape f32(std::vector<int64_t> dims) { return Shape(DType::kF32, std::move(dims)); }
Shape s32(std::vector<int64_t> dims) { return Shape(DType::kS32, std::move(dims)); }
Shape pred(std::vector<int64_t> dims) { return Shape(DType::kPred, std::move(dims)); }

class Cases {
 public:
  std::vector<OpCase> take() { return std::move(cases_); }

  // `build` gets the module builder for reducers and the entry builder; it returns the root.
  void add(const std::string& name, const std::function<InstructionId(ModuleBuilder&, ComputationBuilder&)>& build,
           int64_t bound = 8) {
    ModuleBuilder module(name);
    ComputationBuilder entry("main");
    const InstructionId root = build(module, entry);
    cases_.push_back({name, std::move(module).build(std::move(entry).build(root)), bound});
  }

  void unary(Opcode opcode, const Shape& shape, const Shape& result) {
    add(std::string(hlo::name(opcode)),
        [&](ModuleBuilder&, ComputationBuilder& b) { return b.op(opcode, result, {b.parameter(shape)}); });
  }

  void binary(Opcode opcode, const Shape& shape, const std::string& suffix = "") {
    add(std::string(hlo::name(opcode)) + suffix, [&](ModuleBuilder&, ComputationBuilder& b) {
      const InstructionId lhs = b.parameter(shape);
      return b.op(opcode, shape, {lhs, b.parameter(shape)});
    });
  }

  void dot(const std::string& name, const Shape& lhs, const Shape& rhs, const Shape& result, const hlo::DotDims& dims) {
    add("dot_" + name, [&](ModuleBuilder&, ComputationBuilder& b) {
      const InstructionId a = b.parameter(lhs);
      return b.dot(result, a, b.parameter(rhs), dims);
    });
  }

  void reshape(const std::string& name, const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
    add("reshape_" + name, [&](ModuleBuilder&, ComputationBuilder& b) {
      return b.op(Opcode::kReshape, f32(to), {b.parameter(f32(from))});
    });
  }

 private:
  std::vector<OpCase> cases_;
};

void add_elementwise(Cases& cases) {
  const Shape shape = f32({8, 16});
  for (const Opcode opcode : {Opcode::kAbs,
                              Opcode::kNegate,
                              Opcode::kSign,
                              Opcode::kSqrt,
                              Opcode::kRsqrt,
                              Opcode::kCbrt,
                              Opcode::kExp,
                              Opcode::kExpm1,
                              Opcode::kLog,
                              Opcode::kLog1p,
                              Opcode::kLogistic,
                              Opcode::kTanh,
                              Opcode::kTan,
                              Opcode::kSine,
                              Opcode::kCosine,
                              Opcode::kFloor,
                              Opcode::kCeil,
                              Opcode::kRoundNearestAfz,
                              Opcode::kRoundNearestEven,
                              Opcode::kErf,
                              Opcode::kCopy}) {
    cases.unary(opcode, shape, shape);
  }
  cases.unary(Opcode::kIsFinite, shape, pred({8, 16}));
  cases.unary(Opcode::kConvert, shape, Shape(DType::kBF16, {8, 16}));
  cases.unary(Opcode::kBitcastConvert, shape, s32({8, 16}));
  cases.unary(Opcode::kNot, s32({8, 16}), s32({8, 16}));
  cases.unary(Opcode::kPopulationCount, s32({8, 16}), s32({8, 16}));
  cases.unary(Opcode::kClz, s32({8, 16}), s32({8, 16}));
  for (const Opcode opcode : {Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply, Opcode::kDivide, Opcode::kRemainder,
                              Opcode::kPower, Opcode::kMaximum, Opcode::kMinimum, Opcode::kAtan2}) {
    cases.binary(opcode, shape);
  }
  for (const Opcode opcode : {Opcode::kAnd, Opcode::kOr, Opcode::kXor, Opcode::kShiftLeft,
                              Opcode::kShiftRightArithmetic, Opcode::kShiftRightLogical}) {
    cases.binary(opcode, s32({8, 16}));
  }
  for (const Opcode opcode : {Opcode::kAdd, Opcode::kMultiply, Opcode::kDivide}) {
    cases.binary(opcode, Shape(DType::kC64, {8, 16}), "_complex");
  }
  cases.binary(Opcode::kAdd, f32({0, 16}), "_empty");
  cases.binary(Opcode::kMultiply, f32({8, 0}), "_empty");
  cases.add("bitcast_convert_narrower", [](ModuleBuilder&, ComputationBuilder& b) {
    return b.op(Opcode::kBitcastConvert, Shape(DType::kU8, {8, 16, 4}), {b.parameter(f32({8, 16}))});
  });
  cases.add("compare", [](ModuleBuilder&, ComputationBuilder& b) {
    const InstructionId lhs = b.parameter(f32({8, 16}));
    return b.compare("LT", lhs, b.parameter(f32({8, 16})));
  });
  cases.add("select", [](ModuleBuilder&, ComputationBuilder& b) {
    const InstructionId p = b.parameter(pred({8, 16}));
    const InstructionId t = b.parameter(f32({8, 16}));
    return b.op(Opcode::kSelect, f32({8, 16}), {p, t, b.parameter(f32({8, 16}))});
  });
  // Scalar predicates and bounds themselves are not tried: the newer plug-in does not compile them alone, even on one
  // device.
  cases.add("select_broadcast_predicate", [](ModuleBuilder&, ComputationBuilder& b) {
    const InstructionId p = b.with_dimensions(Opcode::kBroadcast, pred({8, 16}), {b.parameter(pred({}))}, {});
    const InstructionId t = b.parameter(f32({8, 16}));
    return b.op(Opcode::kSelect, f32({8, 16}), {p, t, b.parameter(f32({8, 16}))});
  });
  cases.add("clamp", [](ModuleBuilder&, ComputationBuilder& b) {
    const InstructionId low = b.parameter(f32({8, 16}));
    const InstructionId x = b.parameter(f32({8, 16}));
    return b.op(Opcode::kClamp, f32({8, 16}), {low, x, b.parameter(f32({8, 16}))});
  });
  cases.add("complex", [](ModuleBuilder&, ComputationBuilder& b) {
    const InstructionId re = b.parameter(f32({8, 16}));
    return b.op(Opcode::kComplex, Shape(DType::kC64, {8, 16}), {re, b.parameter(f32({8, 16}))});
  });
}

void add_contractions(Cases& cases) {
  cases.dot("empty", f32({0, 8}), f32({8, 24}), f32({0, 24}), {{1}, {0}, {}, {}});
  cases.dot("matmul", f32({16, 8}), f32({8, 24}), f32({16, 24}), {{1}, {0}, {}, {}});
  cases.dot("transposed", f32({8, 16}), f32({24, 8}), f32({16, 24}), {{0}, {1}, {}, {}});
  cases.dot("batch", f32({8, 16, 8}), f32({8, 8, 16}), f32({8, 16, 16}), {{2}, {1}, {0}, {0}});
  cases.dot("two_batch", f32({8, 4, 16, 8}), f32({8, 4, 16, 8}), f32({8, 4, 16, 16}), {{3}, {3}, {0, 1}, {0, 1}});
  cases.dot("batch_last", f32({16, 8, 4}), f32({16, 8, 4}), f32({4, 16, 16}), {{1}, {1}, {2}, {2}});
  cases.dot("weight_gradient", f32({8, 16, 8}), f32({8, 16, 24}), f32({8, 24}), {{0, 1}, {0, 1}, {}, {}});
  cases.dot("rank3_matmul", f32({8, 16, 8}), f32({8, 24}), f32({8, 16, 24}), {{2}, {0}, {}, {}});
  cases.dot("vector", f32({16, 8}), f32({8}), f32({16}), {{1}, {0}, {}, {}});
  cases.dot("outer", f32({16}), f32({8}), f32({16, 8}), {{}, {}, {}, {}});
  cases.dot("bf16", Shape(DType::kBF16, {16, 8}), Shape(DType::kBF16, {8, 24}), Shape(DType::kBF16, {16, 24}),
            {{1}, {0}, {}, {}});
  cases.dot("complex", Shape(DType::kC64, {16, 8}), Shape(DType::kC64, {8, 24}), Shape(DType::kC64, {16, 24}),
            {{1}, {0}, {}, {}});
  cases.dot("bf16", Shape(DType::kBF16, {16, 8}), Shape(DType::kBF16, {8, 24}), Shape(DType::kBF16, {16, 24}),
            {{1}, {0}, {}, {}});
  cases.dot("integers", s32({16, 8}), s32({8, 24}), s32({16, 24}), {{1}, {0}, {}, {}});
  const auto convolution = [&](const std::string& name, const Shape& input, const Shape& kernel, const Shape& result,
                               const std::vector<hlo::WindowDim>& window, const hlo::ConvolutionDims& dims) {
    cases.add("convolution_" + name, [&](ModuleBuilder&, ComputationBuilder& b) {
      const InstructionId x = b.parameter(input);
      return b.convolution(result, x, b.parameter(kernel), window, dims);
    });
  };
  // Batch and spatial dims, feature last: [B,H,W,C], kernel [H,W,I,O].
  const hlo::ConvolutionDims nhwc{0, 3, 2, 3, 0, 3, {1, 2}, {0, 1}, {1, 2}, 1, 1};
  const hlo::WindowDim same{3, 1, 1, 1, 1, 1, false};
  convolution("forward", f32({8, 8, 8, 8}), f32({3, 3, 8, 16}), f32({8, 8, 8, 16}), {same, same}, nhwc);
  const hlo::WindowDim strided{3, 2, 1, 1, 1, 1, false};
  convolution("stride_2", f32({8, 8, 8, 8}), f32({3, 3, 8, 16}), f32({8, 4, 4, 16}), {strided, strided}, nhwc);
  const hlo::WindowDim input_gradient{3, 1, 1, 2, 1, 2, false};
  convolution("input_gradient_of_stride_2", f32({8, 4, 4, 16}), f32({3, 3, 16, 8}), f32({8, 8, 8, 8}),
              {input_gradient, input_gradient}, nhwc);
  // Kernel gradient: the batch is contracted, the image's features take the place of the batch.
  const hlo::ConvolutionDims kernel_dims{3, 0, 0, 3, 2, 3, {1, 2}, {1, 2}, {0, 1}, 1, 1};
  const hlo::WindowDim kernel_window{8, 1, 1, 1, 1, 1, false};
  convolution("kernel_gradient", f32({8, 8, 8, 8}), f32({8, 8, 8, 16}), f32({3, 3, 8, 16}),
              {kernel_window, kernel_window}, kernel_dims);
  const hlo::WindowDim kernel_strided{4, 1, 1, 0, 2, 1, false};
  convolution("kernel_gradient_of_stride_2", f32({8, 8, 8, 8}), f32({8, 4, 4, 16}), f32({3, 3, 8, 16}),
              {kernel_strided, kernel_strided}, kernel_dims);
  hlo::ConvolutionDims grouped = nhwc;
  grouped.feature_groups = 8;
  convolution("feature_groups", f32({8, 8, 8, 16}), f32({3, 3, 2, 16}), f32({8, 8, 8, 16}), {same, same}, grouped);
  grouped.feature_groups = 16;
  convolution("depthwise", f32({8, 8, 8, 16}), f32({3, 3, 1, 16}), f32({8, 8, 8, 16}), {same, same}, grouped);
  hlo::ConvolutionDims batch_grouped = kernel_dims;
  batch_grouped.batch_groups = 8;
  convolution("batch_groups", f32({8, 8, 8, 8}), f32({8, 8, 8, 16}), f32({3, 3, 1, 16}), {kernel_window, kernel_window},
              batch_grouped);
}

void add_movement(Cases& cases) {
  const auto broadcast = [&](const std::string& name, const std::vector<int64_t>& from, const std::vector<int64_t>& to,
                             const std::vector<int64_t>& dims) {
    cases.add("broadcast_" + name, [&](ModuleBuilder&, ComputationBuilder& b) {
      return b.with_dimensions(Opcode::kBroadcast, f32(to), {b.parameter(f32(from))}, dims);
    });
  };
  broadcast("last", {16}, {8, 16}, {1});
  broadcast("first", {8}, {8, 16}, {0});
  broadcast("middle", {8, 16}, {8, 4, 16}, {0, 2});
  const auto transpose = [&](const std::string& name, const std::vector<int64_t>& from,
                             const std::vector<int64_t>& dims) {
    std::vector<int64_t> to;
    for (const int64_t dim : dims) to.push_back(from[static_cast<size_t>(dim)]);
    cases.add("transpose_" + name, [&](ModuleBuilder&, ComputationBuilder& b) {
      return b.with_dimensions(Opcode::kTranspose, f32(to), {b.parameter(f32(from))}, dims);
    });
  };
  transpose("2d", {8, 16}, {1, 0});
  transpose("heads", {8, 16, 4, 8}, {0, 2, 1, 3});
  transpose("rotate", {8, 16, 24}, {2, 0, 1});
  cases.reshape("merge", {8, 16}, {128});
  cases.reshape("split", {128}, {8, 16});
  cases.reshape("split_small_major", {8, 64}, {8, 4, 16});
  cases.reshape("split_major_2", {8, 64}, {8, 2, 32});
  cases.reshape("merge_batch", {8, 16, 24}, {128, 24});
  cases.reshape("heads", {8, 16, 32}, {8, 16, 4, 8});
  cases.reshape("merge_heads", {8, 16, 4, 8}, {8, 16, 32});
  cases.reshape("ones", {8, 1, 16}, {1, 8, 16, 1});
  cases.reshape("uneven", {6, 8}, {12, 4});
  cases.reshape("regroup", {8, 32}, {16, 16});
  cases.reshape("groups", {8, 32, 16}, {4, 64, 16});
  const auto slice = [&](const std::string& name, const std::vector<int64_t>& from,
                         const std::vector<hlo::SliceDim>& dims) {
    std::vector<int64_t> to;
    for (const hlo::SliceDim& dim : dims) to.push_back((dim.limit - dim.start + dim.stride - 1) / dim.stride);
    cases.add("slice_" + name,
              [&](ModuleBuilder&, ComputationBuilder& b) { return b.slice(f32(to), b.parameter(f32(from)), dims); });
  };
  slice("last", {8, 24}, {{0, 8, 1}, {8, 16, 1}});
  slice("strided", {16, 8}, {{0, 16, 2}, {0, 8, 1}});
  slice("one", {8, 16, 8}, {{0, 8, 1}, {3, 4, 1}, {0, 8, 1}});
  const auto pad = [&](const std::string& name, const std::vector<int64_t>& from,
                       const std::vector<hlo::PadDim>& dims) {
    std::vector<int64_t> to;
    for (size_t k = 0; k < from.size(); ++k)
      to.push_back(from[k] + dims[k].low + dims[k].high + dims[k].interior * (from[k] - 1));
    cases.add("pad_" + name, [&](ModuleBuilder&, ComputationBuilder& b) {
      const InstructionId x = b.parameter(f32(from));
      return b.pad(f32(to), x, b.scalar(DType::kF32, 0), dims);
    });
  };
  pad("last", {8, 8}, {{0, 0, 0}, {8, 8, 0}});
  pad("interior", {8, 8, 16}, {{0, 0, 0}, {1, 0, 1}, {0, 0, 0}});
  pad("negative", {8, 24}, {{0, 0, 0}, {-8, 0, 0}});
  cases.add("concatenate", [](ModuleBuilder&, ComputationBuilder& b) {
    const InstructionId x = b.parameter(f32({8, 8, 16}));
    return b.with_dimensions(Opcode::kConcatenate, f32({8, 24, 16}), {x, b.parameter(f32({8, 16, 16}))}, {1});
  });
  cases.add("reverse", [](ModuleBuilder&, ComputationBuilder& b) {
    return b.with_dimensions(Opcode::kReverse, f32({8, 16, 8}), {b.parameter(f32({8, 16, 8}))}, {1});
  });
}

void add_reductions(Cases& cases) {
  const auto reduce = [&](const std::string& name, Opcode opcode, DType dtype, double init,
                          const std::vector<int64_t>& dims, double imaginary_init = 0) {
    std::vector<int64_t> to;
    const std::vector<int64_t> from{8, 16, 24};
    for (int64_t dim = 0; dim < 3; ++dim) {
      if (std::find(dims.begin(), dims.end(), dim) == dims.end()) to.push_back(from[static_cast<size_t>(dim)]);
    }
    cases.add("reduce_" + name, [&](ModuleBuilder& module, ComputationBuilder& b) {
      const auto reducer = module.reducer(opcode, dtype);
      const InstructionId x = b.parameter(Shape(dtype, from));
      tensor::Literal start(Shape(dtype, {}));
      start.set(0, init);
      start.set_imaginary(0, imaginary_init);
      return b.with_dimensions(Opcode::kReduce, Shape(dtype, to), {x, b.constant(start)}, dims, {reducer});
    });
  };
  reduce("add", Opcode::kAdd, DType::kF32, 0, {0, 1});
  reduce("add_last", Opcode::kAdd, DType::kF32, 0, {2});
  reduce("add_all", Opcode::kAdd, DType::kF32, 0, {0, 1, 2});
  reduce("add_from_three", Opcode::kAdd, DType::kF32, 3, {0, 1});
  reduce("max", Opcode::kMaximum, DType::kF32, -std::numeric_limits<double>::infinity(), {2});
  reduce("min", Opcode::kMinimum, DType::kF32, std::numeric_limits<double>::infinity(), {1});
  reduce("max_from_zero", Opcode::kMaximum, DType::kF32, 0, {1});
  reduce("multiply", Opcode::kMultiply, DType::kF32, 1, {2});
  reduce("and", Opcode::kAnd, DType::kPred, 1, {0});
  reduce("or", Opcode::kOr, DType::kPred, 0, {0});
  reduce("add_integers", Opcode::kAdd, DType::kS32, 0, {0, 2});
  reduce("add_predicates", Opcode::kAdd, DType::kPred, 0, {0});
  reduce("max_predicates", Opcode::kMaximum, DType::kPred, 0, {0});
  reduce("add_bytes", Opcode::kAdd, DType::kS8, 0, {0});
  reduce("min_long", Opcode::kMinimum, DType::kS64, static_cast<double>(std::numeric_limits<int64_t>::max()), {0});
  reduce("or_integers", Opcode::kOr, DType::kS32, 0, {0});
  reduce("and_integers", Opcode::kAnd, DType::kS32, -1, {0});
  reduce("and_unsigned", Opcode::kAnd, DType::kU32, 4294967295.0, {0});
  reduce("add_bf16", Opcode::kAdd, DType::kBF16, 0, {0});
  reduce("max_bf16", Opcode::kMaximum, DType::kBF16, -std::numeric_limits<double>::infinity(), {0});
  reduce("add_complex", Opcode::kAdd, DType::kC64, 0, {0});
  reduce("multiply_complex", Opcode::kMultiply, DType::kC64, 1, {0});
  reduce("add_complex_from_imaginary", Opcode::kAdd, DType::kC64, 0, {0}, 3);
  reduce("multiply_complex_from_imaginary", Opcode::kMultiply, DType::kC64, 1, {0}, 1);
  cases.add("reduce_add_empty", [](ModuleBuilder& module, ComputationBuilder& b) {
    const auto reducer = module.reducer(Opcode::kAdd, DType::kF32);
    const InstructionId x = b.parameter(f32({0, 16}));
    return b.with_dimensions(Opcode::kReduce, f32({16}), {x, b.scalar(DType::kF32, 0)}, {0}, {reducer});
  });
  cases.add("reduce_argmax", [](ModuleBuilder& module, ComputationBuilder& b) {
    ComputationBuilder r("argmax");
    const Shape value = f32({});
    const Shape index = s32({});
    const InstructionId v0 = r.parameter(value);
    const InstructionId i0 = r.parameter(index);
    const InstructionId v1 = r.parameter(value);
    const InstructionId i1 = r.parameter(index);
    const InstructionId first = r.compare("GE", v0, v1);
    const InstructionId v = r.op(Opcode::kSelect, value, {first, v0, v1});
    const InstructionId i = r.op(Opcode::kSelect, index, {first, i0, i1});
    const auto reducer = module.add(std::move(r).build(r.tuple({v, i})));
    const InstructionId x = b.parameter(f32({8, 16, 24}));
    const InstructionId at = b.parameter(s32({8, 16, 24}));
    return b.with_dimensions(
        Opcode::kReduce, Shape::tuple({f32({8, 16}), s32({8, 16})}),
        {x, at, b.scalar(DType::kF32, -std::numeric_limits<double>::infinity()), b.scalar(DType::kS32, 0)}, {2},
        {reducer});
  });
  const hlo::WindowDim one{1, 1, 0, 0, 1, 1, false};
  cases.add("reduce_window_cumsum", [&](ModuleBuilder& module, ComputationBuilder& b) {
    const auto reducer = module.reducer(Opcode::kAdd, DType::kF32);
    const InstructionId x = b.parameter(f32({8, 16, 8}));
    return b.windowed(Opcode::kReduceWindow, f32({8, 16, 8}), {x, b.scalar(DType::kF32, 0)},
                      {one, {16, 1, 15, 0, 1, 1, false}, one}, {reducer});
  });
  const hlo::WindowDim pool{2, 2, 0, 0, 1, 1, false};
  cases.add("reduce_window_max_pool", [&](ModuleBuilder& module, ComputationBuilder& b) {
    const auto reducer = module.reducer(Opcode::kMaximum, DType::kF32);
    const InstructionId x = b.parameter(f32({8, 8, 8, 16}));
    return b.windowed(Opcode::kReduceWindow, f32({8, 4, 4, 16}),
                      {x, b.scalar(DType::kF32, -std::numeric_limits<double>::infinity())}, {one, pool, pool, one},
                      {reducer});
  });
  cases.add("select_and_scatter", [&](ModuleBuilder& module, ComputationBuilder& b) {
    ComputationBuilder r("ge");
    const InstructionId lhs = r.parameter(f32({}));
    const InstructionId root = r.compare("GE", lhs, r.parameter(f32({})));
    const auto select = module.add(std::move(r).build(root));
    const auto scatter = module.reducer(Opcode::kAdd, DType::kF32);
    const InstructionId x = b.parameter(f32({8, 8, 8, 16}));
    const InstructionId source = b.parameter(f32({8, 4, 4, 16}));
    return b.windowed(Opcode::kSelectAndScatter, f32({8, 8, 8, 16}), {x, source, b.scalar(DType::kF32, 0)},
                      {one, pool, pool, one}, {select, scatter});
  });
  cases.add("sort", [](ModuleBuilder& module, ComputationBuilder& b) {
    ComputationBuilder r("lt");
    const InstructionId lhs = r.parameter(f32({}));
    const InstructionId root = r.compare("LT", lhs, r.parameter(f32({})));
    const auto comparator = module.add(std::move(r).build(root));
    return b.with_dimensions(Opcode::kSort, f32({8, 16, 8}), {b.parameter(f32({8, 16, 8}))}, {1}, {comparator});
  });
  cases.add("sort_pairs", [](ModuleBuilder& module, ComputationBuilder& b) {
    ComputationBuilder r("lt");
    const InstructionId lhs = r.parameter(f32({}));
    const InstructionId rhs = r.parameter(f32({}));
    r.parameter(s32({}));
    r.parameter(s32({}));
    const InstructionId root = r.compare("LT", lhs, rhs);
    const auto comparator = module.add(std::move(r).build(root));
    const InstructionId keys = b.parameter(f32({8, 16, 8}));
    return b.with_dimensions(Opcode::kSort, Shape::tuple({f32({8, 16, 8}), s32({8, 16, 8})}),
                             {keys, b.parameter(s32({8, 16, 8}))}, {2}, {comparator});
  });
  cases.add("triangular_solve", [](ModuleBuilder&, ComputationBuilder& b) {
    const InstructionId a = b.parameter(f32({8, 8, 4, 4}));
    return b.triangular_solve(a, b.parameter(f32({8, 8, 4, 2})));
  });
  cases.add("map", [](ModuleBuilder& module, ComputationBuilder& b) {
    const auto callee = module.reducer(Opcode::kAdd, DType::kF32);
    const InstructionId x = b.parameter(f32({8, 16}));
    return b.with_dimensions(Opcode::kMap, f32({8, 16}), {x, b.parameter(f32({8, 16}))}, {0, 1}, {callee});
  });
  cases.add("rng_bit_generator", [](ModuleBuilder&, ComputationBuilder& b) {
    const Shape state(DType::kU64, {2});
    return b.rng_bit_generator(Shape::tuple({state, Shape(DType::kU32, {8, 16})}), b.parameter(state));
  });
}

void add_indexing(Cases& cases) {
  const auto dynamic_slice = [&](const std::string& name, const std::vector<int64_t>& from,
                                 const std::vector<int64_t>& to) {
    cases.add(
        "dynamic_slice_" + name,
        [&](ModuleBuilder&, ComputationBuilder& b) {
          std::vector<InstructionId> operands{b.parameter(f32(from))};
          for (size_t k = 0; k < from.size(); ++k) operands.push_back(b.parameter(s32({})));
          return b.dynamic_slice(f32(to), operands);
        },
        40);
  };
  dynamic_slice("layer", {8, 16, 24}, {1, 16, 24});
  dynamic_slice("column", {8, 16}, {8, 1});
  dynamic_slice("part", {16, 32}, {16, 8});
  const auto update = [&](const std::string& name, const std::vector<int64_t>& from, const std::vector<int64_t>& part) {
    cases.add(
        "dynamic_update_slice_" + name,
        [&](ModuleBuilder&, ComputationBuilder& b) {
          std::vector<InstructionId> operands{b.parameter(f32(from)), b.parameter(f32(part))};
          for (size_t k = 0; k < from.size(); ++k) operands.push_back(b.parameter(s32({})));
          return b.op(Opcode::kDynamicUpdateSlice, f32(from), operands);
        },
        40);
  };
  update("layer", {8, 16, 24}, {1, 16, 24});
  update("column", {8, 16}, {8, 1});
  update("part", {16, 32}, {16, 8});
  const auto gather = [&](const std::string& name, const Shape& table, const Shape& indices, const Shape& result,
                          const hlo::GatherDims& dims) {
    cases.add(
        "gather_" + name,
        [&](ModuleBuilder&, ComputationBuilder& b) {
          const InstructionId t = b.parameter(table);
          return b.gather(result, t, b.parameter(indices), dims);
        },
        table.dims[0]);
  };
  gather("rows", f32({16, 24}), s32({8, 16, 1}), f32({8, 16, 24}), {{2}, {0}, {0}, {}, {}, {1, 24}, 2});
  gather("rows_flat", f32({16, 24}), s32({8}), f32({8, 24}), {{1}, {0}, {0}, {}, {}, {1, 24}, 1});
  gather("columns", f32({24, 16}), s32({8, 1}), f32({24, 8}), {{0}, {1}, {1}, {}, {}, {24, 1}, 1});
  gather("labels", f32({8, 16, 24}), s32({8, 16, 1, 1}), f32({8, 16, 1}), {{}, {2}, {2}, {0, 1}, {0, 1}, {1, 1, 1}, 3});
  gather("two_indices", f32({16, 8, 24}), s32({8, 2}), f32({8, 24}), {{1}, {0, 1}, {0, 1}, {}, {}, {1, 1, 24}, 1});
  gather("windows", f32({16, 24}), s32({8, 1}), f32({8, 4, 24}), {{1, 2}, {}, {0}, {}, {}, {4, 24}, 1});
  const auto scatter = [&](const std::string& name, Opcode combiner, const Shape& table, const Shape& indices,
                           const Shape& updates, const hlo::ScatterDims& dims) {
    cases.add(
        "scatter_" + name,
        [&](ModuleBuilder& module, ComputationBuilder& b) {
          const auto combine = module.reducer(combiner, table.dtype);
          const InstructionId t = b.parameter(table);
          const InstructionId at = b.parameter(indices);
          return b.scatter(t, at, b.parameter(updates), dims, combine);
        },
        table.dims[0]);
  };
  const hlo::ScatterDims rows{{2}, {0}, {0}, {}, {}, 2};
  scatter("rows", Opcode::kAdd, f32({16, 24}), s32({8, 16, 1}), f32({8, 16, 24}), rows);
  scatter("rows_max", Opcode::kMaximum, f32({16, 24}), s32({8, 16, 1}), f32({8, 16, 24}), rows);
  scatter("rows_min", Opcode::kMinimum, f32({16, 24}), s32({8, 16, 1}), f32({8, 16, 24}), rows);
  scatter("rows_multiply", Opcode::kMultiply, f32({16, 24}), s32({8, 16, 1}), f32({8, 16, 24}), rows);
  const auto scatter_rows = [&](const std::string& name, Opcode combiner, DType dtype) {
    scatter("rows_" + name, combiner, Shape(dtype, {16, 24}), s32({8, 16, 1}), Shape(dtype, {8, 16, 24}), rows);
  };
  scatter_rows("add_integers", Opcode::kAdd, DType::kS32);
  scatter_rows("max_integers", Opcode::kMaximum, DType::kS32);
  scatter_rows("min_bytes", Opcode::kMinimum, DType::kU8);
  scatter_rows("or_integers", Opcode::kOr, DType::kS32);
  scatter_rows("and_integers", Opcode::kAnd, DType::kS32);
  scatter_rows("or", Opcode::kOr, DType::kPred);
  scatter_rows("and", Opcode::kAnd, DType::kPred);
  scatter_rows("add_predicates", Opcode::kAdd, DType::kPred);
  scatter_rows("add_bf16", Opcode::kAdd, DType::kBF16);
  scatter_rows("add_complex", Opcode::kAdd, DType::kC64);
  scatter_rows("multiply_complex", Opcode::kMultiply, DType::kC64);
  scatter("labels", Opcode::kAdd, f32({8, 16, 24}), s32({8, 16, 1, 1}), f32({8, 16, 1}),
          {{}, {2}, {2}, {0, 1}, {0, 1}, 3});
  scatter("two_indices", Opcode::kAdd, f32({16, 8, 24}), s32({8, 2}), f32({8, 24}), {{1}, {0, 1}, {0, 1}, {}, {}, 1});
}

}  // namespace

std::vector<OpCase> op_cases() {
  Cases cases;
  add_elementwise(cases);
  add_contractions(cases);
  add_movement(cases);
  add_reductions(cases);
  add_indexing(cases);
  return cases.take();
}

}  // namespace alpa::property
