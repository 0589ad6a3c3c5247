#include "alpa/frontend/ops/indexing.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "alpa/base/error.h"
#include "alpa/frontend/autodiff.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/ops/elementwise_rules.h"
#include "alpa/frontend/ops/reduction.h"
#include "alpa/frontend/ops/shape.h"
#include "alpa/frontend/promotion.h"

// Gather and scatter are each other's transposes: what a gather reads, its derivative adds up at the same places.
namespace alpa {
namespace {

using frontend::Lowering;
using frontend::Node;
using frontend::normal_dim;
using frontend::Primitive;
using frontend::VjpArguments;
using Ids = std::vector<int32_t>;
using Wide = std::vector<int64_t>;

bool has(const Wide& list, int64_t value) { return std::find(list.begin(), list.end(), value) != list.end(); }

void require_indices(const char* op, const ArrayLike& indices) {
  require<InvalidArgumentError>(indices.array.defined(), op, "the indices at {} are an Array that was never assigned",
                                frontend::to_string(indices.where));
  require<InvalidArgumentError>(tensor::is_integral(indices.array.dtype()), op,
                                "takes integers as indices, not {}, at {}: convert with astype",
                                tensor::to_string(indices.array.shape()), frontend::to_string(indices.where));
}

// Strong, and wide enough for the size of any dim.
Array as_places(const Array& indices) {
  const DType dtype = indices.dtype();
  if (tensor::bit_width(dtype) < 32) return indices.astype(DType::kS32);
  return indices.astype(dtype);
}

/// All that a gather or scatter needs to know but its operands.
struct Indexing {
  GatherDims dims;
  Wide slice_sizes;
  OutOfRange mode;

  /// Greatest index in range, an entry of an index vector.
  Wide bounds(const Dims& operand) const {
    Wide result;
    for (const int64_t dim : dims.start_index_map)
      result.push_back(operand[static_cast<size_t>(dim)] - slice_sizes[static_cast<size_t>(dim)]);
    return result;
  }
};

ScatterDims scatter_dims(const GatherDims& dims) {
  return {dims.offset_dims, dims.collapsed_slice_dims, dims.start_index_map, dims.operand_batching_dims,
          dims.start_indices_batching_dims};
}

Indexing indexing_of(const ScatterDims& dims, const Dims& operand, const Dims& updates, OutOfRange mode) {
  Wide sizes;
  size_t next = 0;
  for (size_t dim = 0; dim < operand.size(); ++dim) {
    const auto wide = static_cast<int64_t>(dim);
    const bool dropped = has(dims.inserted_window_dims, wide) || has(dims.operand_batching_dims, wide);
    sizes.push_back(dropped ? 1 : updates[static_cast<size_t>(dims.update_window_dims[next++])]);
  }
  return {{dims.update_window_dims, dims.inserted_window_dims, dims.scatter_dims_to_operand_dims,
           dims.operand_batching_dims, dims.scatter_indices_batching_dims},
          sizes,
          mode};
}

Array vector_of(const Wide& values, DType dtype) {
  tensor::Literal literal(Shape(dtype, {static_cast<int64_t>(values.size())}));
  for (size_t k = 0; k < values.size(); ++k) literal.set(static_cast<int64_t>(k), static_cast<double>(values[k]));
  return Array(std::move(literal));
}

// What kFill reads out of range.
tensor::Literal fill_value(DType dtype, OutOfRange mode) {
  tensor::Literal literal(Shape(dtype, {}));
  if (mode == OutOfRange::kFillZero) return literal;
  if (frontend::is_differentiable(dtype)) {
    literal.set(0, std::numeric_limits<double>::quiet_NaN());
    return literal;
  }
  return frontend::extreme(dtype, /*least=*/frontend::is_signed(dtype));
}

// True where a whole index vector is in range, without the dim that holds them.
int32_t in_range(Lowering& lowering, int32_t indices, const Wide& bounds) {
  hlo::ComputationBuilder& builder = lowering.builder();
  const Shape shape = builder.shape(indices);
  const Shape truth(DType::kPred, shape.dims), kept(DType::kPred, Dims(shape.dims.begin(), shape.dims.end() - 1));
  const int64_t last = shape.rank() - 1;
  const int32_t zeros = builder.with_dimensions(hlo::Opcode::kBroadcast, shape, {builder.scalar(shape.dtype, 0)}, {});
  const int32_t limits = builder.with_dimensions(hlo::Opcode::kBroadcast, shape,
                                                 {builder.constant(vector_of(bounds, shape.dtype).to_host())}, {last});
  const int32_t fits = builder.op(hlo::Opcode::kAnd, truth,
                                  {builder.compare("GE", indices, zeros), builder.compare("LE", indices, limits)});
  if (bounds.size() == 1) return builder.op(hlo::Opcode::kReshape, kept, {fits});
  tensor::Literal yes(Shape(DType::kPred, {}));
  yes.set(0, 1);
  return builder.with_dimensions(hlo::Opcode::kReduce, kept, {fits, builder.constant(yes)}, {last},
                                 {lowering.reducer(hlo::Opcode::kAnd, DType::kPred)});
}

int32_t lower_gather(Lowering& lowering, const Node& node, const Ids& ids, const Indexing& it) {
  hlo::ComputationBuilder& builder = lowering.builder();
  const Shape& shape = node.shapes[0];
  const Shape& indices = node.inputs[1].shape();
  const int32_t read = builder.gather(
      shape, ids[0], ids[1],
      {it.dims.offset_dims, it.dims.collapsed_slice_dims, it.dims.start_index_map, it.dims.operand_batching_dims,
       it.dims.start_indices_batching_dims, it.slice_sizes, indices.rank() - 1});
  if (it.mode == OutOfRange::kClip) return read;  // as HLO does by itself
  const int32_t fits = in_range(lowering, ids[1], it.bounds(node.inputs[0].dims()));
  Wide batch;
  for (int64_t dim = 0; dim < shape.rank(); ++dim) {
    if (!has(it.dims.offset_dims, dim)) batch.push_back(dim);
  }
  const int32_t mask = builder.with_dimensions(hlo::Opcode::kBroadcast, Shape(DType::kPred, shape.dims), {fits}, batch);
  const int32_t filler =
      builder.with_dimensions(hlo::Opcode::kBroadcast, shape, {builder.constant(fill_value(shape.dtype, it.mode))}, {});
  return builder.op(hlo::Opcode::kSelect, shape, {mask, read, filler});
}

Array record_gather(const Array& x, const Array& indices, const Indexing& it, const Dims& dims, Where where) {
  return frontend::emit_one(
      Primitive{.name = "gather",
                .lower = [it](Lowering& lowering, const Node& node,
                              const Ids& ids) { return Ids{lower_gather(lowering, node, ids, it)}; },
                .vjp =
                    [it](const VjpArguments& a) {
                      return std::vector<Array>{scatter_add(zeros_like(a.inputs[0]), a.inputs[1], a.cotangent(),
                                                            scatter_dims(it.dims), it.mode),
                                                Array()};
                    },
                .jvp =
                    [it](const frontend::JvpArguments& a) {
                      Indexing linear = it;  // NaN is no tangent
                      if (it.mode == OutOfRange::kFill) linear.mode = OutOfRange::kFillZero;
                      return std::vector<Array>{
                          record_gather(a.tangents[0], a.inputs[1], linear, a.outputs[0].dims(), Where::current())};
                    }},
      {x, indices}, Shape(x.dtype(), dims), where, x.is_weak());
}

// The gather that reads what a scatter writes.
Array read_back(const Array& x, const Array& indices, const Array& like, const Indexing& it) {
  Indexing linear = it;
  if (it.mode == OutOfRange::kFill) linear.mode = OutOfRange::kFillZero;
  return record_gather(x, indices, linear, like.dims(), Where::current());
}

// Combined by an opcode, or the updates in place of what was there.
Primitive scatter_primitive(const char* name, const Indexing& it, std::optional<hlo::Opcode> opcode) {
  return {.name = name, .lower = [it, opcode](Lowering& lowering, const Node& node, const Ids& ids) {
            int32_t combiner = 0;
            const Shape scalar(node.shapes[0].dtype, {});
            if (opcode) {
              combiner = lowering.reducer(*opcode, scalar.dtype);
            } else {
              hlo::ComputationBuilder second("replace." + std::to_string(lowering.num_computations()));
              second.parameter(scalar);
              const int32_t update = second.parameter(scalar);
              combiner = lowering.add(std::move(second).build(update));
            }
            const auto& dims = it.dims;
            return Ids{lowering.builder().scatter(
                ids[0], ids[1], ids[2],
                {dims.offset_dims, dims.collapsed_slice_dims, dims.start_index_map, dims.operand_batching_dims,
                 dims.start_indices_batching_dims, node.inputs[1].rank() - 1},
                combiner)};
          }};
}

Array record_add(const Array& x, const Array& indices, const Array& updates, const Indexing& it, Where where) {
  Primitive primitive = scatter_primitive("scatter_add", it, hlo::Opcode::kAdd);
  primitive.vjp = [it](const VjpArguments& a) {
    return std::vector<Array>{a.cotangent(), Array(),
                              a.wanted[2] ? read_back(a.cotangent(), a.inputs[1], a.inputs[2], it) : Array()};
  };
  primitive.jvp = [it](const frontend::JvpArguments& a) {
    if (!a.tangents[2].defined()) return std::vector<Array>{a.tangents[0]};
    const Array into = frontend::instantiate(a.tangents[0], a.inputs[0].shape());
    return std::vector<Array>{record_add(into, a.inputs[1], a.tangents[2], it, Where::current())};
  };
  return frontend::emit_one(std::move(primitive), {x, indices, updates}, x.shape(), where);
}

// Where places coincide only the update that won has a derivative: updates write their numbers in the same way, and
// each looks whether its own is there.
Array record_set(const Array& x, const Array& indices, const Array& updates, const Indexing& it, Where where) {
  Primitive primitive = scatter_primitive("scatter_set", it, std::nullopt);
  primitive.vjp = [it](const VjpArguments& a) {
    const Array& places = a.inputs[1];
    const Array& update = a.inputs[2];
    Array of_x, of_update;
    if (a.wanted[0]) of_x = record_set(a.cotangent(), places, zeros_like(update), it, Where::current());
    if (a.wanted[2]) {
      const Array numbers = add(reshape(arange(update.size()), update.dims()), 1);
      const Array winners = record_set(zeros(a.inputs[0].dims(), DType::kS32), places, numbers, it, Where::current());
      const Array won = equal(read_back(winners, places, update, it), numbers);
      const Array read = read_back(a.cotangent(), places, update, it);
      of_update = alpa::where(won, read, zeros_like(read));
    }
    return std::vector<Array>{of_x, Array(), of_update};
  };
  return frontend::emit_one(std::move(primitive), {x, indices, updates}, x.shape(), where);
}

// Those that are the extremum share the cotangent: what was there, and the updates.
template <bool kGreatest>
Array record_extremum(const Array& x, const Array& indices, const Array& updates, const Indexing& it, Where where) {
  Primitive primitive = scatter_primitive(kGreatest ? "scatter_max" : "scatter_min", it,
                                          kGreatest ? hlo::Opcode::kMaximum : hlo::Opcode::kMinimum);
  primitive.vjp = [it](const VjpArguments& a) {
    const Array &places = a.inputs[1], &update = a.inputs[2], &result = a.outputs[0];
    const DType dtype = result.dtype();
    const Array stayed = equal(a.inputs[0], result).astype(dtype);
    const Array came = equal(update, read_back(result, places, update, it)).astype(dtype);
    const Array share = divide(a.cotangent(), record_add(stayed, places, came, it, Where::current()));
    return std::vector<Array>{multiply(stayed, share), Array(), multiply(came, read_back(share, places, update, it))};
  };
  return frontend::emit_one(std::move(primitive), {x, indices, updates}, x.shape(), where);
}

Dims gathered_dims(const ArrayLike& x, const ArrayLike& indices, const Indexing& it) {
  const Dims& operand = x.array.dims();
  const GatherDims& dims = it.dims;
  Wide window;
  bool fits = it.slice_sizes.size() == operand.size() && indices.array.rank() > 0 &&
              dims.operand_batching_dims.size() == dims.start_indices_batching_dims.size() &&
              static_cast<int64_t>(dims.start_index_map.size()) == indices.array.dim(-1);
  for (size_t k = 0; fits && k < operand.size(); ++k) {
    const auto dim = static_cast<int64_t>(k);
    const bool dropped = has(dims.collapsed_slice_dims, dim) || has(dims.operand_batching_dims, dim);
    fits = it.slice_sizes[k] >= 0 && it.slice_sizes[k] <= operand[k] && (!dropped || it.slice_sizes[k] == 1);
    if (!dropped) window.push_back(it.slice_sizes[k]);
  }
  fits = fits && window.size() == dims.offset_dims.size();
  require<InvalidArgumentError>(fits, "gather", "slices [{}] of {} and indices {} at {} do not fit the dims given",
                                fmt::join(it.slice_sizes, ","), tensor::to_string(x.array.shape()),
                                tensor::to_string(indices.array.shape()), frontend::to_string(x.where));
  Dims result;
  size_t of_window = 0, of_batch = 0;
  const size_t rank = window.size() + indices.array.dims().size() - 1;
  while (result.size() < rank) {
    const bool is_window = has(dims.offset_dims, static_cast<int64_t>(result.size()));
    result.push_back(is_window ? window.at(of_window++) : indices.array.dims().at(of_batch++));
  }
  return result;
}

struct Scatter {
  const char* name;
  Array (*record)(const Array& x, const Array& indices, const Array& updates, const Indexing& it, Where where);
};
constexpr Scatter kAddition = {"scatter_add", record_add}, kReplacement = {"scatter_set", record_set};
constexpr Scatter kMaximum = {"scatter_max", record_extremum<true>}, kMinimum = {"scatter_min", record_extremum<false>};

Array scatter(const Scatter& kind, const ArrayLike& x, const ArrayLike& indices, const ArrayLike& updates,
              const Indexing& it) {
  const char* const name = kind.name;
  require_indices(name, indices);
  const std::vector<Array> operands = {x.array.astype(x.array.dtype()),
                                       updates.array.astype(x.array.dtype(), updates.where)};
  const Dims expected = gathered_dims({operands[0], x.where}, indices, it);
  require<InvalidArgumentError>(expected == updates.array.dims(), name, "{} updated by {} at {}: the indices make [{}]",
                                tensor::to_string(x.array.shape()), tensor::to_string(updates.array.shape()),
                                frontend::to_string(x.where), fmt::join(expected, ","));
  Array places = as_places(indices.array);
  if (it.mode == OutOfRange::kClip) {
    const Array limits = vector_of(it.bounds(operands[0].dims()), places.dtype());
    places = clip(places, Array(tensor::Literal(Shape(places.dtype(), {}))), limits);
  }
  return kind.record(operands[0], places, operands[1], it, x.where);
}

void require_update_window(const char* name, const ArrayLike& x, const ArrayLike& updates, const ScatterDims& dims) {
  const size_t windowed = x.array.dims().size() - dims.inserted_window_dims.size() - dims.operand_batching_dims.size();
  bool fits = dims.update_window_dims.size() == windowed;
  for (const int64_t dim : dims.update_window_dims) fits = fits && dim >= 0 && dim < updates.array.rank();
  require<InvalidArgumentError>(fits, name, "the window dims [{}] do not fit {} updated by {} at {}",
                                fmt::join(dims.update_window_dims, ","), tensor::to_string(x.array.shape()),
                                tensor::to_string(updates.array.shape()), frontend::to_string(x.where));
}

// What `take` along a dim is as a gather; of dims of the indices there are `extra`.
Indexing along(const Dims& operand, int dim, int extra, OutOfRange mode) {
  Indexing it{{.collapsed_slice_dims = {dim}, .start_index_map = {dim}}, operand, mode};
  it.slice_sizes[static_cast<size_t>(dim)] = 1;
  for (int k = 0; k < static_cast<int>(operand.size()); ++k) {
    if (k != dim) it.dims.offset_dims.push_back(k < dim ? k : k - 1 + extra);
  }
  return it;
}

Array with_vectors(const Array& indices, int64_t size, OutOfRange mode) {
  const Array places = as_places(indices);
  return expand_dims(mode == OutOfRange::kClip ? places : frontend::wrapped_indices(places, size), {-1});
}

Array scatter_along(const Scatter& kind, const ArrayLike& x, const ArrayLike& indices, const ArrayLike& updates,
                    int dim) {
  const char* const name = kind.name;
  const int place = normal_dim(name, dim, x.array.shape(), x.where);
  require_indices(name, indices);
  const Indexing it = along(x.array.dims(), place, indices.array.rank(), OutOfRange::kFill);
  Dims dims = x.array.dims();
  dims.erase(dims.begin() + place);
  dims.insert(dims.begin() + place, indices.array.dims().begin(), indices.array.dims().end());
  const Array places = with_vectors(indices.array, x.array.dim(place), it.mode);
  const Array wide = broadcast_to(updates.array.astype(x.array.dtype(), updates.where), dims, updates.where);
  return scatter(kind, x, {places, indices.where}, {wide, updates.where}, it);
}

}  // namespace

namespace frontend {
Array wrapped_indices(const Array& indices, int64_t size) {
  const DType dtype = indices.dtype();
  if (!is_signed(dtype)) return indices;
  const Array zero(tensor::Literal(Shape(dtype, {})));
  return alpa::where(less(indices, zero), add(indices, full({}, static_cast<double>(size), dtype)), indices);
}
}  // namespace frontend

Array gather(const ArrayLike& x, const ArrayLike& indices, const GatherDims& dims,
             const std::vector<int64_t>& slice_sizes, OutOfRange mode) {
  require_indices("gather", indices);
  const Indexing it{dims, slice_sizes, mode};
  return record_gather(x.array, as_places(indices.array), it, gathered_dims(x, indices, it), x.where);
}

Array scatter_add(const ArrayLike& x, const ArrayLike& indices, const ArrayLike& updates, const ScatterDims& dims,
                  OutOfRange mode) {
  require_update_window("scatter_add", x, updates, dims);
  return scatter(kAddition, x, indices, updates, indexing_of(dims, x.array.dims(), updates.array.dims(), mode));
}

Array scatter_set(const ArrayLike& x, const ArrayLike& indices, const ArrayLike& updates, const ScatterDims& dims,
                  OutOfRange mode) {
  require_update_window("scatter_set", x, updates, dims);
  return scatter(kReplacement, x, indices, updates, indexing_of(dims, x.array.dims(), updates.array.dims(), mode));
}

Array scatter_add(const ArrayLike& x, const ArrayLike& indices, const ArrayLike& updates, int dim) {
  return scatter_along(kAddition, x, indices, updates, dim);
}

Array scatter_set(const ArrayLike& x, const ArrayLike& indices, const ArrayLike& updates, int dim) {
  return scatter_along(kReplacement, x, indices, updates, dim);
}

Array scatter_max(const ArrayLike& x, const ArrayLike& indices, const ArrayLike& updates, int dim) {
  frontend::require_dtype(!tensor::is_complex(x.array.dtype()), "scatter_max", x, "real numbers");
  return scatter_along(kMaximum, x, indices, updates, dim);
}

Array scatter_min(const ArrayLike& x, const ArrayLike& indices, const ArrayLike& updates, int dim) {
  frontend::require_dtype(!tensor::is_complex(x.array.dtype()), "scatter_min", x, "real numbers");
  return scatter_along(kMinimum, x, indices, updates, dim);
}

Array take(const ArrayLike& x, const ArrayLike& indices, int dim, OutOfRange mode) {
  const int place = normal_dim("take", dim, x.array.shape(), x.where);
  require_indices("take", indices);
  const int64_t size = x.array.dim(place);
  require<InvalidArgumentError>(size > 0 || indices.array.size() == 0, "take",
                                "{} at {} has no elements along dim {} to take", tensor::to_string(x.array.shape()),
                                frontend::to_string(x.where), dim);
  const Indexing it = along(x.array.dims(), place, indices.array.rank(), mode);
  return gather(x, {with_vectors(indices.array, size, mode), indices.where}, it.dims, it.slice_sizes, mode);
}

Array take_along_axis(const ArrayLike& x, const ArrayLike& indices, int dim, OutOfRange mode) {
  const int place = normal_dim("take_along_axis", dim, x.array.shape(), x.where);
  require_indices("take_along_axis", indices);
  const auto along_place = static_cast<size_t>(place);
  Dims table = x.array.dims(), places = indices.array.dims();
  bool fits = table.size() == places.size();
  Indexing it{{}, Wide(table.size(), 1), mode};
  for (size_t k = 0; fits && k < table.size(); ++k) {
    if (k == along_place) continue;
    fits = table[k] == places[k] || table[k] == 1 || places[k] == 1;
    table[k] = places[k] = table[k] == 1 ? places[k] : table[k];
    it.dims.operand_batching_dims.push_back(static_cast<int64_t>(k));
  }
  require<InvalidArgumentError>(fits, "take_along_axis", "{} and indices {} at {} do not broadcast in the other dims",
                                tensor::to_string(x.array.shape()), tensor::to_string(indices.array.shape()),
                                frontend::to_string(x.where));
  it.dims.start_indices_batching_dims = it.dims.operand_batching_dims;
  it.dims.collapsed_slice_dims = it.dims.start_index_map = {place};
  const Array wide = with_vectors(broadcast_to(indices, places, indices.where), x.array.dim(place), mode);
  return gather({broadcast_to(x, table, x.where), x.where}, {wide, indices.where}, it.dims, it.slice_sizes, mode);
}

}  // namespace alpa
