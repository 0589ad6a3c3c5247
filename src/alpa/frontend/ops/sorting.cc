#include "alpa/frontend/ops/sorting.h"

#include "alpa/base/error.h"
#include "alpa/frontend/autodiff.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/ops/indexing.h"
#include "alpa/frontend/ops/reduction.h"
#include "alpa/frontend/ops/shape.h"

namespace alpa {
namespace {

using frontend::Linearized;
using frontend::Lowering;
using frontend::Node;
using frontend::Primitive;
using Ids = std::vector<int32_t>;

// True if the first of two lists of keys comes before the second.
hlo::ComputationId comparator(Lowering& lowering, const std::vector<Array>& operands, const SortOptions& options) {
  hlo::ComputationBuilder builder("comparator." + std::to_string(lowering.num_computations()));
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (const Array& operand : operands) {
    const Shape scalar(operand.dtype(), {});
    const int32_t a = builder.parameter(scalar), b = builder.parameter(scalar);
    pairs.emplace_back(options.descending ? b : a, options.descending ? a : b);
  }
  const Shape truth(DType::kPred, {});
  const auto either = [&](int32_t p, int32_t q) { return builder.op(hlo::Opcode::kOr, truth, {p, q}); };
  const auto both = [&](int32_t p, int32_t q) { return builder.op(hlo::Opcode::kAnd, truth, {p, q}); };
  int32_t result = -1;
  for (size_t k = static_cast<size_t>(options.num_keys); k-- > 0;) {
    const auto [a, b] = pairs[k];
    const bool has_nan = tensor::is_floating(operands[k].dtype());
    int32_t before = builder.compare("LT", a, b);
    if (has_nan) before = either(before, both(builder.compare("NE", b, b), builder.compare("EQ", a, a)));
    if (result >= 0) {
      int32_t same = builder.compare("EQ", a, b);
      if (has_nan) same = either(same, both(builder.compare("NE", a, a), builder.compare("NE", b, b)));
      before = either(before, both(same, result));
    }
    result = before;
  }
  return lowering.add(std::move(builder).build(result));
}

// The sorted operands; one as an array, more as elements of a tuple.
Ids lower_sort(Lowering& lowering, const std::vector<Array>& operands, const Ids& ids, int dim,
               const SortOptions& options) {
  const auto order = comparator(lowering, operands, options);
  std::vector<Shape> shapes;
  for (const Array& operand : operands) shapes.push_back(operand.shape());
  if (operands.size() == 1) return {lowering.builder().stable_sort(shapes[0], ids, dim, order)};
  const int32_t all = lowering.builder().stable_sort(Shape::tuple(shapes), ids, dim, order);
  Ids result;
  for (size_t k = 0; k < operands.size(); ++k)
    result.push_back(lowering.builder().get_tuple_element(all, static_cast<int64_t>(k)));
  return result;
}

// What `take_along_axis(x, places, dim)` gives x of the cotangent of its result.
Array put_back(const Array& cotangent, const Array& x, const Array& places, int dim) {
  const Array variable = frontend::alias(zeros_like(x));
  const Array taken = take_along_axis(variable, places, dim, OutOfRange::kClip);
  return frontend::linearize({taken}, {variable}).pullback({cotangent})[0];
}

std::vector<Array> record_sort(const std::vector<Array>& operands, int dim, const SortOptions& options, Where where) {
  Primitive primitive;
  primitive.name = "sort";
  primitive.lower = [dim, options](Lowering& lowering, const Node& node, const Ids& ids) {
    return lower_sort(lowering, node.inputs, ids, dim, options);
  };
  // Sorted once more with the places as one more array: each cotangent goes where its element came from.
  primitive.linearize = [dim, options, where](const Node&, const std::vector<Array>& inputs,
                                              const std::vector<bool>& wanted) {
    std::vector<Array> more = inputs;
    more.push_back(iota(inputs[0].dims(), dim));
    std::vector<Array> outputs = record_sort(more, dim, options, where);
    const Array places = outputs.back();
    outputs.pop_back();
    return Linearized{outputs, [=](const std::vector<Array>& cotangents) {
                        std::vector<Array> result(inputs.size());
                        for (size_t k = 0; k < inputs.size(); ++k) {
                          if (wanted[k] && cotangents[k].defined())
                            result[k] = put_back(cotangents[k], inputs[k], places, dim);
                        }
                        return result;
                      }};
  };
  std::vector<Shape> shapes;
  for (const Array& operand : operands) shapes.push_back(operand.shape());
  return frontend::emit(std::make_shared<const Primitive>(std::move(primitive)), operands, std::move(shapes), where);
}

Array key_of(const char* op, const ArrayLike& x) {
  require<InvalidArgumentError>(!tensor::is_complex(x.array.dtype()), op, "{} at {}: complex numbers have no order",
                                tensor::to_string(x.array.shape()), frontend::to_string(x.where));
  return x.array.astype(x.array.dtype());
}

}  // namespace

Array sort(const ArrayLike& x, int dim, bool descending) {
  const int along = frontend::normal_dim("sort", dim, x.array.shape(), x.where);
  return record_sort({key_of("sort", x)}, along, {.descending = descending}, x.where)[0];
}

Array argsort(const ArrayLike& x, int dim, bool descending) {
  const int along = frontend::normal_dim("argsort", dim, x.array.shape(), x.where);
  Primitive primitive;
  primitive.name = "argsort";
  primitive.lower = [along, descending](Lowering& lowering, const Node& node, const Ids& ids) {
    return Ids{lower_sort(lowering, node.inputs, ids, along, {.descending = descending})[1]};
  };
  const Dims& dims = x.array.dims();
  return frontend::emit_one(std::move(primitive), {key_of("argsort", x), iota(dims, along)}, Shape(DType::kS32, dims),
                            x.where);
}

std::vector<Array> sort_together(const std::vector<Array>& operands, int dim, const SortOptions& options, Where where) {
  require<InvalidArgumentError>(options.num_keys >= 1 && static_cast<size_t>(options.num_keys) <= operands.size(),
                                "sort_together", "{} keys among {} arrays at {}", options.num_keys, operands.size(),
                                frontend::to_string(where));
  const int along = frontend::normal_dim("sort_together", dim, operands[0].shape(), where);
  std::vector<Array> strong;
  for (size_t k = 0; k < operands.size(); ++k) {
    const Array& one = operands[k];
    require<InvalidArgumentError>(one.dims() == operands[0].dims(), "sort_together", "{} and {} at {} differ",
                                  tensor::to_string(operands[0].shape()), tensor::to_string(one.shape()),
                                  frontend::to_string(where));
    const bool is_key = k < static_cast<size_t>(options.num_keys);
    strong.push_back(is_key ? key_of("sort_together", {one, where}) : one.astype(one.dtype()));
  }
  return record_sort(strong, along, options, where);
}

std::pair<Array, Array> top_k(const ArrayLike& x, int64_t k) {
  const int along = frontend::normal_dim("top_k", -1, x.array.shape(), x.where);
  require<InvalidArgumentError>(k >= 0 && k <= x.array.dim(along), "top_k", "{} elements of {} at {}", k,
                                tensor::to_string(x.array.shape()), frontend::to_string(x.where));
  const Array key = key_of("top_k", x);
  Dims dims = key.dims();
  dims.back() = k;
  Primitive primitive;
  primitive.name = "top_k";
  primitive.lower = [along, dims](Lowering& lowering, const Node& node, const Ids& ids) {
    Ids result = lower_sort(lowering, node.inputs, ids, along, {.descending = true});
    std::vector<hlo::SliceDim> part;
    for (const int64_t size : dims) part.push_back({0, size, 1});
    for (size_t output = 0; output < result.size(); ++output)
      result[output] = lowering.builder().slice(node.shapes[output], result[output], part);
    return result;
  };
  primitive.vjp = [along](const frontend::VjpArguments& a) {
    return std::vector<Array>{put_back(a.cotangent(), a.inputs[0], a.outputs[1], along), Array()};
  };
  primitive.jvp = [along](const frontend::JvpArguments& a) {
    return std::vector<Array>{take_along_axis(a.tangents[0], a.outputs[1], along, OutOfRange::kClip), Array()};
  };
  const auto outputs =
      frontend::emit(std::make_shared<const Primitive>(std::move(primitive)), {key, iota(key.dims(), along)},
                     {Shape(key.dtype(), dims), Shape(DType::kS32, dims)}, x.where);
  return {outputs[0], outputs[1]};
}

Array searchsorted(const ArrayLike& sorted, const ArrayLike& values, bool right) {
  require<InvalidArgumentError>(sorted.array.rank() == 1, "searchsorted", "takes a vector, not {}, at {}",
                                tensor::to_string(sorted.array.shape()), frontend::to_string(sorted.where));
  const Array each = expand_dims(values, {-1});
  const Array before =
      right ? less_equal({sorted.array, sorted.where}, each) : less({sorted.array, sorted.where}, each);
  return sum(before, {-1});
}

}  // namespace alpa
