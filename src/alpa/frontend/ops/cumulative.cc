#include "alpa/frontend/ops/cumulative.h"

#include "alpa/base/error.h"
#include "alpa/frontend/autodiff.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/ops/elementwise_rules.h"
#include "alpa/frontend/ops/reduction.h"
#include "alpa/frontend/ops/shape.h"

namespace alpa {
namespace {

using frontend::Lowering;
using frontend::Node;
using frontend::Primitive;
using Ids = std::vector<int32_t>;

/// One of the cumulative reductions along a dim.
struct Cumulative {
  const char* name;
  hlo::Opcode opcode;
  frontend::AssociativeOperation operation;
  tensor::Literal init;
  int dim = 0;
  bool reverse = false;
};

Ids lower_window(Lowering& lowering, const Node& node, int32_t operand, const Cumulative& it) {
  const Shape& shape = node.shapes[0];
  std::vector<hlo::WindowDim> window(shape.dims.size());
  hlo::WindowDim& along = window[static_cast<size_t>(it.dim)];
  along.size = shape.dims[static_cast<size_t>(it.dim)];
  (it.reverse ? along.padding_high : along.padding_low) = along.size - 1;
  return {lowering.builder().windowed(hlo::Opcode::kReduceWindow, shape,
                                      {operand, lowering.builder().constant(it.init)}, window,
                                      {lowering.reducer(it.opcode, shape.dtype)})};
}

// The sum's transpose is the sum from the other end.
Array record_sum(const Array& x, const Cumulative& it, Where where) {
  Primitive primitive;
  primitive.name = it.name;
  primitive.lower = [it](Lowering& lowering, const Node& node, const Ids& ids) {
    return lower_window(lowering, node, ids[0], it);
  };
  primitive.vjp = [it](const frontend::VjpArguments& a) {
    Cumulative back = it;
    back.reverse = !it.reverse;
    return std::vector<Array>{record_sum(a.cotangent(), back, Where::current())};
  };
  primitive.jvp = [it](const frontend::JvpArguments& a) {
    return std::vector<Array>{record_sum(a.tangents[0], it, Where::current())};
  };
  return frontend::emit_one(std::move(primitive), {x}, x.shape(), where);
}

// Derivatives come of the scan, whose steps have them: quotients by elements would fail at zeros.
Array record_scan(const Array& x, const Cumulative& it, Where where) {
  Primitive primitive;
  primitive.name = it.name;
  primitive.lower = [it](Lowering& lowering, const Node& node, const Ids& ids) {
    return lower_window(lowering, node, ids[0], it);
  };
  primitive.linearize = [it](const Node&, const std::vector<Array>& inputs, const std::vector<bool>&) {
    const Array variable = frontend::alias(inputs[0]);
    return frontend::linearize({frontend::associative_scan(it.operation, variable, it.dim, it.reverse)}, {variable});
  };
  primitive.push = [it](const Node&, const std::vector<Array>& inputs, const std::vector<Array>& tangents) {
    const Array variable = frontend::alias(inputs[0]);
    return frontend::push_forward({frontend::associative_scan(it.operation, variable, it.dim, it.reverse)}, {variable},
                                  tangents);
  };
  return frontend::emit_one(std::move(primitive), {x}, x.shape(), where);
}

// Strong, bools as s32, the dim counted from 0; nothing to do for one without elements.
Array cumulative(Cumulative it, const ArrayLike& x, int dim, bool reverse) {
  it.dim = frontend::normal_dim(it.name, dim, x.array.shape(), x.where);
  it.reverse = reverse;
  if (x.array.size() == 0) return x.array;
  return it.opcode == hlo::Opcode::kAdd ? record_sum(x.array, it, x.where) : record_scan(x.array, it, x.where);
}

ArrayLike countable(const ArrayLike& x) {
  return {x.array.astype(x.array.dtype() == DType::kPred ? DType::kS32 : x.array.dtype()), x.where};
}

Array pairs(frontend::AssociativeOperation operation, const Array& x, int dim) {
  const int64_t size = x.dim(dim);
  if (size < 2) return x;
  const Array firsts = slice_in_dim(x, dim, 0, size - 1, 2), seconds = slice_in_dim(x, dim, 1, size, 2);
  const Array odd = pairs(operation, operation(firsts, seconds), dim);  // results at 1, 3, ...
  Array even = slice_in_dim(x, dim, 0, 1);                              // at 0, 2, ...
  if (size > 2) {
    const Array before = slice_in_dim(odd, dim, 0, (size - 1) / 2);
    even = concatenate({even, operation(before, slice_in_dim(x, dim, 2, size, 2))}, dim);
  }
  std::vector<Padding> of_even(x.dims().size()), of_odd(x.dims().size());
  of_even[static_cast<size_t>(dim)] = {0, size % 2 == 0 ? 1 : 0, 1};
  of_odd[static_cast<size_t>(dim)] = {1, size % 2 == 0 ? 0 : 1, 1};
  return add(pad(even, of_even), pad(odd, of_odd));
}

}  // namespace

namespace frontend {
Array associative_scan(AssociativeOperation operation, const Array& x, int dim, bool reverse) {
  if (!reverse) return pairs(operation, x, dim);
  return alpa::reverse(pairs(operation, alpa::reverse(x, {dim}), dim), {dim});
}
}  // namespace frontend

Array cumsum(const ArrayLike& x, int dim, bool reverse) {
  const ArrayLike strong = countable(x);
  const DType dtype = strong.array.dtype();
  return cumulative({"cumsum", hlo::Opcode::kAdd, add, tensor::Literal(Shape(dtype, {}))}, strong, dim, reverse);
}

Array cumprod(const ArrayLike& x, int dim, bool reverse) {
  const ArrayLike strong = countable(x);
  tensor::Literal one(Shape(strong.array.dtype(), {}));
  one.set(0, 1);
  return cumulative({"cumprod", hlo::Opcode::kMultiply, multiply, one}, strong, dim, reverse);
}

Array cummax(const ArrayLike& x, int dim, bool reverse) {
  frontend::require_dtype(!tensor::is_complex(x.array.dtype()), "cummax", x, "real numbers");
  const ArrayLike strong(x.array.astype(x.array.dtype()), x.where);
  return cumulative({"cummax", hlo::Opcode::kMaximum, maximum, frontend::extreme(strong.array.dtype(), true)}, strong,
                    dim, reverse);
}

Array cummin(const ArrayLike& x, int dim, bool reverse) {
  frontend::require_dtype(!tensor::is_complex(x.array.dtype()), "cummin", x, "real numbers");
  const ArrayLike strong(x.array.astype(x.array.dtype()), x.where);
  return cumulative({"cummin", hlo::Opcode::kMinimum, minimum, frontend::extreme(strong.array.dtype(), false)}, strong,
                    dim, reverse);
}

Array cumlogsumexp(const ArrayLike& x, int dim, bool reverse) {
  const int along = frontend::normal_dim("cumlogsumexp", dim, x.array.shape(), x.where);
  return frontend::associative_scan(logaddexp, frontend::as_floating(x.array), along, reverse);
}

}  // namespace alpa
