#include "alpa/frontend/ops/reduction.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "alpa/base/error.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/cumulative.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/ops/elementwise_rules.h"
#include "alpa/frontend/ops/shape.h"

namespace alpa {

namespace frontend {
tensor::Literal extreme(DType dtype, bool least) {
  tensor::Literal literal(Shape(dtype, {}));
  if (tensor::is_floating(dtype)) {
    literal.set(0, least ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity());
    return literal;
  }
  const auto bytes = literal.mutable_bytes();
  // Two's complement, little-endian: the sign is in the last byte.
  for (std::byte& byte : bytes) byte = least ? std::byte{0} : std::byte{0xff};
  if (dtype == DType::kPred) bytes[0] = least ? std::byte{0} : std::byte{1};
  if (is_signed(dtype)) bytes.back() = least ? std::byte{0x80} : std::byte{0x7f};
  return literal;
}
}  // namespace frontend

namespace {

using frontend::extreme;
using frontend::Lowering;
using frontend::Node;
using frontend::Primitive;
using frontend::VjpArguments;
using Ids = std::vector<int32_t>;

std::vector<int> all_dims(const Array& x) {
  std::vector<int> dims(static_cast<size_t>(x.rank()));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

struct Reduction {
  const char* name;
  hlo::Opcode opcode;
  Array init;
  std::function<std::vector<Array>(const VjpArguments&, const std::vector<int>& dims)> vjp;
};

// The result without the dims, spread over the operand again.
Array spread(const Array& reduced, const Array& like, const std::vector<int>& dims) {
  std::vector<int64_t> mapping;
  for (int dim = 0; dim < like.rank(); ++dim) {
    if (std::find(dims.begin(), dims.end(), dim) == dims.end()) mapping.push_back(dim);
  }
  return broadcast_in_dim(reduced, like.dims(), mapping);
}

Array with_kept(const Array& reduced, const Array& x, const std::vector<int>& dims, bool keep) {
  if (!keep) return reduced;
  Dims sizes = x.dims();
  for (const int dim : dims) sizes[static_cast<size_t>(dim)] = 1;
  return reshape(reduced, sizes);
}

std::vector<int> normal_dims(const char* op, const ArrayLike& x, const std::vector<int>& dims) {
  require<InvalidArgumentError>(x.array.defined(), op, "the Array at {} was never assigned",
                                frontend::to_string(x.where));
  std::vector<int> normal;
  for (const int dim : dims) normal.push_back(frontend::normal_dim(op, dim, x.array.shape(), x.where));
  std::sort(normal.begin(), normal.end());
  require<InvalidArgumentError>(std::unique(normal.begin(), normal.end()) == normal.end(), op,
                                "a dim is named twice at {}", frontend::to_string(x.where));
  return normal;
}

Array reduce(const Reduction& reduction, const ArrayLike& x, const std::vector<int>& asked, bool keep_dims) {
  const std::vector<int> dims = normal_dims(reduction.name, x, asked);
  if (dims.empty()) return x.array;
  Dims kept;
  for (int dim = 0; dim < x.array.rank(); ++dim) {
    if (std::find(dims.begin(), dims.end(), dim) == dims.end()) kept.push_back(x.array.dim(dim));
  }
  const std::vector<int64_t> wide(dims.begin(), dims.end());
  const hlo::Opcode opcode = reduction.opcode;
  const auto vjp = reduction.vjp;
  Primitive primitive{
      .name = reduction.name, .lower = [opcode, wide](Lowering& lowering, const Node& node, const Ids& ids) {
        const auto reducer = lowering.reducer(opcode, node.shapes[0].dtype);
        return Ids{lowering.builder().with_dimensions(hlo::Opcode::kReduce, node.shapes[0], ids, wide, {reducer})};
      }};
  if (vjp) {
    primitive.vjp = [vjp, dims](const VjpArguments& a) {
      std::vector<Array> cotangents = vjp(a, dims);
      cotangents.resize(2);  // of the initial value: none
      return cotangents;
    };
  }
  const Array result = frontend::emit_one(std::move(primitive), {x.array, reduction.init}, Shape(x.array.dtype(), kept),
                                          x.where, x.array.is_weak());
  return with_kept(result, x.array, dims, keep_dims);
}

// Integers and floats are added in at least 32 bits, as JAX does.
ArrayLike widened(const ArrayLike& x) {
  switch (x.array.dtype()) {
    case DType::kF16:
    case DType::kBF16: return {x.array.astype(DType::kF32), x.where};
    case DType::kPred:
    case DType::kS8:
    case DType::kS16: return {x.array.astype(DType::kS32), x.where};
    case DType::kU8:
    case DType::kU16: return {x.array.astype(DType::kU32), x.where};
    default: return x;
  }
}

int64_t count_over(const char* op, const ArrayLike& x, const std::vector<int>& dims) {
  int64_t count = 1;
  for (const int dim : normal_dims(op, x, dims)) count *= x.array.dim(dim);
  return count;
}

// What was widened for its sum alone is rounded again.
Array narrowed(const Array& result, const ArrayLike& x) {
  const DType dtype = x.array.dtype();
  return tensor::is_floating(dtype) && result.dtype() != dtype ? result.astype(dtype) : result;
}

Array extremum(const char* name, hlo::Opcode opcode, bool least, const ArrayLike& x, const std::vector<int>& dims,
               bool keep_dims) {
  const DType dtype = x.array.dtype();
  frontend::require_dtype(!tensor::is_complex(dtype), name, x, "real numbers");
  require<InvalidArgumentError>(count_over(name, x, dims) > 0, name, "{} at {} has no elements along these dims",
                                tensor::to_string(x.array.shape()), frontend::to_string(x.where));
  // Equal elements share the cotangent.
  const auto vjp = [](const VjpArguments& a, const std::vector<int>& over) {
    const Array hits = equal(a.inputs[0], spread(a.outputs[0], a.inputs[0], over)).astype(a.inputs[0].dtype());
    const Array share = divide(a.cotangent(), sum(hits, over));
    return std::vector<Array>{multiply(hits, spread(share, a.inputs[0], over))};
  };
  return reduce({name, opcode, Array(extreme(dtype, least)), vjp}, x, dims, keep_dims);
}

// Value and index together; the first of equal elements wins, and NaN wins over all.
Array arg_extremum(const char* name, const char* direction, bool least, const ArrayLike& x, int dim, bool keep_dims) {
  const std::vector<int> dims = normal_dims(name, x, {dim});
  const DType dtype = x.array.dtype();
  frontend::require_dtype(!tensor::is_complex(dtype), name, x, "real numbers");
  require<InvalidArgumentError>(x.array.dim(dims[0]) > 0, name, "{} at {} has no elements along dim {}",
                                tensor::to_string(x.array.shape()), frontend::to_string(x.where), dim);
  Dims kept = x.array.dims();
  kept.erase(kept.begin() + dims[0]);
  const auto lower = [dims, dtype, direction = std::string(direction)](Lowering& lowering, const Node& node,
                                                                       const Ids& ids) {
    hlo::ComputationBuilder builder("arg_reducer." + std::to_string(lowering.num_computations()));
    const Shape value(dtype, {}), index(DType::kS32, {}), truth(DType::kPred, {});
    const int32_t a = builder.parameter(value), ka = builder.parameter(index);
    const int32_t b = builder.parameter(value), kb = builder.parameter(index);
    const int32_t better =
        builder.op(hlo::Opcode::kOr, truth, {builder.compare(direction, a, b), builder.compare("NE", a, a)});
    const int32_t earlier =
        builder.op(hlo::Opcode::kAnd, truth, {builder.compare("EQ", a, b), builder.compare("LT", ka, kb)});
    const int32_t take_a = builder.op(hlo::Opcode::kOr, truth, {better, earlier});
    const int32_t root = builder.tuple({builder.op(hlo::Opcode::kSelect, value, {better, a, b}),
                                        builder.op(hlo::Opcode::kSelect, index, {take_a, ka, kb})});
    const auto reducer = lowering.add(std::move(builder).build(root));
    const Shape both = Shape::tuple({Shape(dtype, node.shapes[0].dims), node.shapes[0]});
    const int32_t pair = lowering.builder().with_dimensions(hlo::Opcode::kReduce, both, ids, {dims[0]}, {reducer});
    return Ids{lowering.builder().get_tuple_element(pair, 1)};
  };
  const Array result = frontend::emit_one(Primitive{.name = name, .lower = lower},
                                          {x.array, iota(x.array.dims(), dims[0]), Array(extreme(dtype, least)),
                                           Array(tensor::Literal(Shape(DType::kS32, {})))},
                                          Shape(DType::kS32, kept), x.where);
  return with_kept(result, x.array, dims, keep_dims);
}

}  // namespace

Array sum(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims) {
  const ArrayLike wide = widened(x);
  const auto vjp = [](const VjpArguments& a, const std::vector<int>& over) {
    return std::vector<Array>{spread(a.cotangent(), a.inputs[0], over)};
  };
  const Array zero(tensor::Literal(Shape(wide.array.dtype(), {})));
  return narrowed(reduce({"sum", hlo::Opcode::kAdd, zero, vjp}, wide, dims, keep_dims), x);
}

Array prod(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims) {
  const ArrayLike wide = widened(x);
  // Each element's share is the product of the others: from both sides, so that zeros are no trouble.
  const auto vjp = [](const VjpArguments& a, const std::vector<int>& over) {
    std::vector<int> order;
    Dims kept;
    int64_t count = 1;  // of the elements multiplied
    for (const int dim : over) count *= a.inputs[0].dim(dim);
    for (int dim = 0; dim < a.inputs[0].rank(); ++dim) {
      if (std::find(over.begin(), over.end(), dim) != over.end()) continue;
      order.push_back(dim);
      kept.push_back(a.inputs[0].dim(dim));
    }
    order.insert(order.end(), over.begin(), over.end());
    Dims moved = kept;
    moved.push_back(count);
    const Array flat = reshape(transpose(a.inputs[0], order), moved);
    const int last = flat.rank() - 1;
    std::vector<Padding> later(flat.dims().size()), earlier(flat.dims().size());
    later.back() = {1, -1, 0};
    earlier.back() = {-1, 1, 0};
    const Array others = multiply(cumprod(pad(flat, later, 1), last), cumprod(pad(flat, earlier, 1), last, true));
    Dims sizes = kept;
    std::vector<int> inverse(order.size());
    for (const int dim : over) sizes.push_back(a.inputs[0].dim(dim));
    for (size_t k = 0; k < order.size(); ++k) inverse[static_cast<size_t>(order[k])] = static_cast<int>(k);
    const Array shares = transpose(reshape(others, sizes), inverse);
    return std::vector<Array>{multiply(shares, spread(a.cotangent(), a.inputs[0], over))};
  };
  Array one = full({}, 1, wide.array.dtype());
  return narrowed(reduce({"prod", hlo::Opcode::kMultiply, one, vjp}, wide, dims, keep_dims), x);
}

Array mean(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims) {
  const ArrayLike f(frontend::as_floating(x.array), x.where);
  const ArrayLike wide = widened(f);
  const double count = static_cast<double>(count_over("mean", f, dims));
  return narrowed(divide(sum(wide, dims, keep_dims), count), f);
}

Array var(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims, int64_t ddof) {
  const ArrayLike f(frontend::as_floating(x.array), x.where);
  const ArrayLike wide = widened(f);
  const Array distance = abs(subtract(wide, mean(wide, dims, true)));
  const int64_t count = count_over("var", f, dims) - ddof;
  // As JAX: no number where no degree of freedom is left.
  const double divisor = count > 0 ? static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
  const Array result = divide(sum(square(distance), dims, keep_dims), divisor);
  return tensor::is_complex(f.array.dtype()) ? result : narrowed(result, f);
}

Array stddev(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims, int64_t ddof) {
  return sqrt(var(x, dims, keep_dims, ddof));
}

Array max(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims) {
  return extremum("max", hlo::Opcode::kMaximum, true, x, dims, keep_dims);
}
Array min(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims) {
  return extremum("min", hlo::Opcode::kMinimum, false, x, dims, keep_dims);
}

Array allclose(const ArrayLike& a, const ArrayLike& b, double relative, double absolute) {
  return all(isclose(a, b, relative, absolute));
}

Array all(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims) {
  return reduce({"all", hlo::Opcode::kAnd, Array(extreme(DType::kPred, false)), nullptr},
                {x.array.astype(DType::kPred), x.where}, dims, keep_dims);
}
Array any(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims) {
  return reduce({"any", hlo::Opcode::kOr, Array(extreme(DType::kPred, true)), nullptr},
                {x.array.astype(DType::kPred), x.where}, dims, keep_dims);
}

Array argmax(const ArrayLike& x, int dim, bool keep_dims) {
  return arg_extremum("argmax", "GT", true, x, dim, keep_dims);
}
Array argmin(const ArrayLike& x, int dim, bool keep_dims) {
  return arg_extremum("argmin", "LT", false, x, dim, keep_dims);
}

Array argmax(const ArrayLike& x) { return argmax({flatten(x), x.where}, 0); }
Array argmin(const ArrayLike& x) { return argmin({flatten(x), x.where}, 0); }

Array logsumexp(const ArrayLike& x, const std::vector<int>& dims, bool keep_dims) {
  const ArrayLike f = frontend::real_floating("logsumexp", x);
  const std::vector<int> over = normal_dims("logsumexp", f, dims);
  if (x.array.size() == 0) return log(sum(exp(f), over, keep_dims));  // there is no largest element
  const Array largest = stop_gradient(max(f, over, true));
  const Array base = where(isfinite(largest), largest, zeros_like(largest));
  const Array logs = add(log(sum(exp(subtract(f, base)), over, true)), base);
  if (keep_dims) return logs;
  return squeeze(logs, over);
}

Array sum(const ArrayLike& x) { return sum(x, all_dims(x.array)); }
Array prod(const ArrayLike& x) { return prod(x, all_dims(x.array)); }
Array mean(const ArrayLike& x) { return mean(x, all_dims(x.array)); }
Array var(const ArrayLike& x) { return var(x, all_dims(x.array)); }
Array stddev(const ArrayLike& x) { return stddev(x, all_dims(x.array)); }
Array logsumexp(const ArrayLike& x) { return logsumexp(x, all_dims(x.array)); }
Array max(const ArrayLike& x) { return max(x, all_dims(x.array)); }
Array min(const ArrayLike& x) { return min(x, all_dims(x.array)); }
Array all(const ArrayLike& x) { return all(x, all_dims(x.array)); }
Array any(const ArrayLike& x) { return any(x, all_dims(x.array)); }

}  // namespace alpa
