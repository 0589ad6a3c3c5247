#include "alpa/frontend/ops/pooling.h"

#include <algorithm>
#include <numeric>

#include "alpa/base/error.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/ops/elementwise_rules.h"
#include "alpa/frontend/ops/reduction.h"
#include "alpa/frontend/ops/shape.h"

namespace alpa {
namespace {

using frontend::JvpArguments;
using frontend::Lowering;
using frontend::Node;
using frontend::Primitive;
using frontend::VjpArguments;
using frontend::WindowExtent;
using Ids = std::vector<int32_t>;
using Extents = std::vector<WindowExtent>;

Dims result_dims(const Extents& window) {
  Dims dims;
  for (const WindowExtent& w : window) dims.push_back(w.result());
  return dims;
}

std::vector<hlo::WindowDim> as_hlo(const Extents& window) {
  std::vector<hlo::WindowDim> dims;
  for (const WindowExtent& w : window)
    dims.push_back({w.size, w.stride, w.low, w.high, w.window_dilation, w.base_dilation});
  return dims;
}

hlo::Opcode opcode_of(WindowReduction reduction) {
  switch (reduction) {
    case WindowReduction::kMax: return hlo::Opcode::kMaximum;
    case WindowReduction::kMin: return hlo::Opcode::kMinimum;
    default: return hlo::Opcode::kAdd;
  }
}

tensor::Literal identity_of(WindowReduction reduction, DType dtype) {
  if (reduction == WindowReduction::kSum) return tensor::Literal(Shape(dtype, {}));
  return frontend::extreme(dtype, reduction == WindowReduction::kMax);
}

std::function<Ids(Lowering&, const Node&, const Ids&)> lower_window(WindowReduction reduction, const Extents& window) {
  return [=](Lowering& lowering, const Node& node, const Ids& ids) {
    const DType dtype = node.shapes[0].dtype;
    const int32_t init = lowering.builder().constant(identity_of(reduction, dtype));
    return Ids{lowering.builder().windowed(hlo::Opcode::kReduceWindow, node.shapes[0], {ids[0], init}, as_hlo(window),
                                           {lowering.reducer(opcode_of(reduction), dtype)})};
  };
}

// The sum's transpose: each element gets the cotangents of all windows that cover it, which is a window's sum over the
// cotangents, strides apart.
Array record_sum(const Array& x, const Extents& window, Where where) {
  Primitive primitive;
  primitive.name = "reduce_window_sum";
  primitive.lower = lower_window(WindowReduction::kSum, window);
  primitive.vjp = [window](const VjpArguments& a) {
    std::vector<Padding> padding;
    Extents back;
    for (const WindowExtent& w : window) {
      const int64_t low = w.dilated_size() - 1 - w.low;
      const int64_t high = w.dilated_operand() + w.dilated_size() - 1 - w.dilated_result() - low;
      padding.push_back({low, high, w.stride - 1});
      back.push_back({w.dilated_result() + low + high, w.size, w.base_dilation, 0, 0, 1, w.window_dilation});
    }
    return std::vector<Array>{record_sum(pad(a.cotangent(), padding), back, Where::current())};
  };
  primitive.jvp = [window](const JvpArguments& a) {
    return std::vector<Array>{record_sum(a.tangents[0], window, Where::current())};
  };
  return frontend::emit_one(std::move(primitive), {x}, Shape(x.dtype(), result_dims(window)), where);
}

const char* keeps_first(WindowReduction reduction) { return reduction == WindowReduction::kMax ? "GE" : "LE"; }

Array select_and_gather(const Array& from, const Array& x, WindowReduction reduction, const Extents& window);

// The elements of `source` added at the places of `x` that the windows choose.
Array select_and_scatter(const Array& source, const Array& x, WindowReduction reduction, const Extents& window) {
  Primitive primitive;
  primitive.name = "select_and_scatter_add";
  primitive.lower = [=](Lowering& lowering, const Node& node, const Ids& ids) {
    const Shape scalar(node.shapes[0].dtype, {});
    hlo::ComputationBuilder select("select." + std::to_string(lowering.num_computations()));
    const int32_t a = select.parameter(scalar), b = select.parameter(scalar);
    const int32_t root = select.compare(keeps_first(reduction), a, b);
    const auto selects = lowering.add(std::move(select).build(root));
    const auto adds = lowering.reducer(hlo::Opcode::kAdd, scalar.dtype);
    const int32_t zero = lowering.builder().constant(tensor::Literal(scalar));
    return Ids{lowering.builder().windowed(hlo::Opcode::kSelectAndScatter, node.shapes[0], {ids[1], ids[0], zero},
                                           as_hlo(window), {selects, adds})};
  };
  primitive.vjp = [=](const VjpArguments& a) {
    return std::vector<Array>{select_and_gather(a.cotangent(), a.inputs[1], reduction, window), Array()};
  };
  primitive.jvp = [=](const JvpArguments& a) {
    if (!a.tangents[0].defined()) return std::vector<Array>(1);
    return std::vector<Array>{select_and_scatter(a.tangents[0], a.inputs[1], reduction, window)};
  };
  return frontend::emit_one(std::move(primitive), {source, x}, x.shape(), Where::current());
}

// The elements of `from` at the places of `x` that the windows choose: value and passenger reduced together.
Array select_and_gather(const Array& from, const Array& x, WindowReduction reduction, const Extents& window) {
  Primitive primitive;
  primitive.name = "select_and_gather";
  primitive.lower = [=](Lowering& lowering, const Node& node, const Ids& ids) {
    const Shape scalar(node.shapes[0].dtype, {});
    hlo::ComputationBuilder reducer("selector." + std::to_string(lowering.num_computations()));
    const int32_t a = reducer.parameter(scalar), of_a = reducer.parameter(scalar);
    const int32_t b = reducer.parameter(scalar), of_b = reducer.parameter(scalar);
    const int32_t first = reducer.compare(keeps_first(reduction), a, b);
    const int32_t root = reducer.tuple({reducer.op(hlo::Opcode::kSelect, scalar, {first, a, b}),
                                        reducer.op(hlo::Opcode::kSelect, scalar, {first, of_a, of_b})});
    const auto called = lowering.add(std::move(reducer).build(root));
    hlo::ComputationBuilder& builder = lowering.builder();
    const int32_t least = builder.constant(identity_of(reduction, scalar.dtype));
    const int32_t zero = builder.constant(tensor::Literal(scalar));
    const int32_t both = builder.windowed(hlo::Opcode::kReduceWindow, Shape::tuple({node.shapes[0], node.shapes[0]}),
                                          {ids[1], ids[0], least, zero}, as_hlo(window), {called});
    return Ids{builder.get_tuple_element(both, 1)};
  };
  primitive.vjp = [=](const VjpArguments& a) {
    return std::vector<Array>{select_and_scatter(a.cotangent(), a.inputs[1], reduction, window), Array()};
  };
  primitive.jvp = [=](const JvpArguments& a) {
    if (!a.tangents[0].defined()) return std::vector<Array>(1);
    return std::vector<Array>{select_and_gather(a.tangents[0], a.inputs[1], reduction, window)};
  };
  return frontend::emit_one(std::move(primitive), {from, x}, Shape(x.dtype(), result_dims(window)), Where::current());
}

Array record_extremum(const Array& x, WindowReduction reduction, const Extents& window, Where where) {
  Primitive primitive;
  primitive.name = reduction == WindowReduction::kMax ? "reduce_window_max" : "reduce_window_min";
  primitive.lower = lower_window(reduction, window);
  const bool dilated = std::any_of(window.begin(), window.end(), [](const WindowExtent& w) {
    return w.base_dilation != 1 || w.window_dilation != 1;
  });
  if (dilated) {
    primitive.not_differentiable = "its window is dilated";
  } else {
    primitive.vjp = [=](const VjpArguments& a) {
      return std::vector<Array>{select_and_scatter(a.cotangent(), a.inputs[0], reduction, window)};
    };
    primitive.jvp = [=](const JvpArguments& a) {
      return std::vector<Array>{select_and_gather(a.tangents[0], a.inputs[0], reduction, window)};
    };
  }
  return frontend::emit_one(std::move(primitive), {x}, Shape(x.dtype(), result_dims(window)), where);
}

// Options of spatial dims as those of all dims.
WindowOptions pooling(const char* op, const ArrayLike& x, const std::vector<int64_t>& window,
                      const std::vector<int64_t>& strides, const WindowPadding& padding) {
  const size_t rank = x.array.dims().size(), spatial = window.size();
  require<InvalidArgumentError>(spatial + 1 <= rank, op,
                                "a window of {} dims for {} at {}: batch and features are no "
                                "part of it",
                                spatial, tensor::to_string(x.array.shape()), frontend::to_string(x.where));
  frontend::require_one_each(op, "strides", strides, spatial, x.where);
  WindowOptions options{
      .window = std::vector<int64_t>(rank, 1), .strides = std::vector<int64_t>(rank, 1), .padding = padding};
  const auto first = static_cast<std::ptrdiff_t>(rank - 1 - spatial);
  std::copy(window.begin(), window.end(), options.window.begin() + first);
  std::copy(strides.begin(), strides.end(), options.strides.begin() + first);
  if (!padding.scheme.empty()) return options;
  require<InvalidArgumentError>(padding.amounts.size() == spatial, op, "{} paddings for {} dims at {}",
                                padding.amounts.size(), spatial, frontend::to_string(x.where));
  options.padding.amounts.assign(rank, {0, 0});
  std::copy(padding.amounts.begin(), padding.amounts.end(), options.padding.amounts.begin() + first);
  return options;
}

}  // namespace

Array reduce_window(const ArrayLike& x, WindowReduction reduction, const WindowOptions& options) {
  const char* const op = "reduce_window";
  frontend::require_dtype(reduction == WindowReduction::kSum || !tensor::is_complex(x.array.dtype()), op, x,
                          "real numbers");
  const size_t rank = x.array.dims().size();
  frontend::require_one_each(op, "window sizes", options.window, rank, x.where);
  frontend::require_one_each(op, "strides", options.strides, rank, x.where);
  frontend::require_one_each(op, "dilations of the array", options.base_dilation, rank, x.where);
  frontend::require_one_each(op, "dilations of the window", options.window_dilation, rank, x.where);
  Extents window;
  for (size_t k = 0; k < rank; ++k) {
    window.push_back({.operand = x.array.dims()[k],
                      .size = frontend::or_one(options.window, k),
                      .stride = frontend::or_one(options.strides, k),
                      .base_dilation = frontend::or_one(options.base_dilation, k),
                      .window_dilation = frontend::or_one(options.window_dilation, k)});
  }
  frontend::resolve_padding(op, options.padding, window, x.where);
  const Array strong = x.array.astype(x.array.dtype());
  if (reduction == WindowReduction::kSum) return record_sum(strong, window, x.where);
  return record_extremum(strong, reduction, window, x.where);
}

Array max_pool(const ArrayLike& x, const std::vector<int64_t>& window, const std::vector<int64_t>& strides,
               const WindowPadding& padding) {
  return reduce_window(x, WindowReduction::kMax, pooling("max_pool", x, window, strides, padding));
}

Array min_pool(const ArrayLike& x, const std::vector<int64_t>& window, const std::vector<int64_t>& strides,
               const WindowPadding& padding) {
  return reduce_window(x, WindowReduction::kMin, pooling("min_pool", x, window, strides, padding));
}

Array avg_pool(const ArrayLike& x, const std::vector<int64_t>& window, const std::vector<int64_t>& strides,
               const WindowPadding& padding, bool count_include_pad) {
  const ArrayLike f(frontend::as_floating(x.array), x.where);
  const WindowOptions options = pooling("avg_pool", f, window, strides, padding);
  const Array total = reduce_window(f, WindowReduction::kSum, options);
  if (count_include_pad) {
    const int64_t count = std::accumulate(window.begin(), window.end(), int64_t{1}, std::multiplies<>());
    return divide(total, static_cast<double>(count));
  }
  // How many elements a place covers is the same for all of the batch and all features.
  Dims dims = f.array.dims();
  for (size_t k = 0; k < dims.size(); ++k) {
    if (k + 1 == dims.size() || k + 1 + window.size() < dims.size()) dims[k] = 1;
  }
  return divide(total, reduce_window(ones(dims, f.array.dtype()), WindowReduction::kSum, options));
}

}  // namespace alpa
