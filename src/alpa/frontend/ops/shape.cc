#include "alpa/frontend/ops/shape.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "alpa/base/error.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/ops/elementwise_rules.h"
#include "alpa/frontend/ops/reduction.h"
#include "alpa/frontend/promotion.h"

namespace alpa {
namespace {

using frontend::emit_one;
using frontend::Lowering;
using frontend::Node;
using frontend::normal_dim;
using frontend::Primitive;
using frontend::VjpArguments;
using tensor::to_string;

using Ids = std::vector<int32_t>;

[[noreturn]] void raise_shape(const char* op, const ArrayLike& x, const std::string& problem) {
  raise<InvalidArgumentError>(op, "{} at {}: {}", to_string(x.array.shape()), frontend::to_string(x.where), problem);
}

Array record(Primitive primitive, const ArrayLike& x, Dims dims) {
  if (!x.array.defined())
    raise<InvalidArgumentError>(primitive.name, "the Array at {} was never assigned", frontend::to_string(x.where));
  return emit_one(std::move(primitive), {x.array}, Shape(x.array.dtype(), std::move(dims)), x.where, x.array.is_weak());
}

void require_count(const char* op, const ArrayLike& x, int64_t count) {
  constexpr int64_t kMost = int64_t{1} << 40;  // sizes stay far from where they overflow
  if (count < 0 || count > kMost) raise_shape(op, x, fmt::format("{} times: a count is 0 to 2^40", count));
}

Dims resolve(const ArrayLike& x, Dims dims) {
  const auto hole = std::find(dims.begin(), dims.end(), -1);
  int64_t known = 1;
  for (const int64_t size : dims) known *= size == -1 ? 1 : size;
  if (hole != dims.end() && known > 0) *hole = x.array.size() / known;
  const int64_t total = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  const bool negative = std::any_of(dims.begin(), dims.end(), [](int64_t size) { return size < 0; });
  if (negative || total != x.array.size())
    raise_shape("reshape", x, fmt::format("has {} elements, [{}] does not", x.array.size(), fmt::join(dims, ",")));
  return dims;
}

}  // namespace

namespace frontend {
int normal_dim(const char* op, int dim, const Shape& shape, Where where) {
  const int normal = dim < 0 ? dim + shape.rank() : dim;
  require<InvalidArgumentError>(normal >= 0 && normal < shape.rank(), op, "{} at {} has no dim {}", to_string(shape),
                                to_string(where), dim);
  return normal;
}
}  // namespace frontend

Array reshape(const ArrayLike& x, const Dims& dims) {
  const Dims resolved = resolve(x, dims);
  if (resolved == x.array.dims()) return x.array;
  return record(
      {.name = "reshape",
       .lower = frontend::lower_to(hlo::Opcode::kReshape),
       .vjp = [](const VjpArguments& a) { return std::vector<Array>{reshape(a.cotangent(), a.inputs[0].dims())}; },
       .jvp = [resolved](
                  const frontend::JvpArguments& a) { return std::vector<Array>{reshape(a.tangents[0], resolved)}; }},
      x, resolved);
}

Array flatten(const ArrayLike& x) { return reshape(x, {x.array.size()}); }

Array transpose(const ArrayLike& x, const std::vector<int>& permutation) {
  const auto rank = static_cast<size_t>(x.array.rank());
  std::vector<int> order;
  for (const int dim : permutation) order.push_back(normal_dim("transpose", dim, x.array.shape(), x.where));
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (order.size() != rank || std::unique(sorted.begin(), sorted.end()) != sorted.end())
    raise_shape("transpose", x, fmt::format("({}) is no permutation of its dims", fmt::join(permutation, ", ")));
  if (std::is_sorted(order.begin(), order.end())) return x.array;
  Dims dims;
  std::vector<int> inverse(rank);
  for (size_t k = 0; k < rank; ++k) {
    dims.push_back(x.array.dims()[static_cast<size_t>(order[k])]);
    inverse[static_cast<size_t>(order[k])] = static_cast<int>(k);
  }
  const std::vector<int64_t> wide(order.begin(), order.end());
  return record(
      {.name = "transpose",
       .lower =
           [wide](Lowering& lowering, const Node& node, const Ids& operands) {
             return Ids{lowering.builder().with_dimensions(hlo::Opcode::kTranspose, node.shapes[0], operands, wide)};
           },
       .vjp = [inverse](const VjpArguments& a) { return std::vector<Array>{transpose(a.cotangent(), inverse)}; }},
      x, dims);
}

Array transpose(const ArrayLike& x) {
  std::vector<int> order(static_cast<size_t>(x.array.rank()));
  std::iota(order.rbegin(), order.rend(), 0);
  return transpose(x, order);
}

Array swapaxes(const ArrayLike& x, int a, int b) {
  std::vector<int> order(static_cast<size_t>(x.array.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(normal_dim("swapaxes", a, x.array.shape(), x.where))],
            order[static_cast<size_t>(normal_dim("swapaxes", b, x.array.shape(), x.where))]);
  return transpose(x, order);
}

Array moveaxis(const ArrayLike& x, int from, int to) {
  const int source = normal_dim("moveaxis", from, x.array.shape(), x.where);
  const int target = normal_dim("moveaxis", to, x.array.shape(), x.where);
  std::vector<int> order;
  for (int dim = 0; dim < x.array.rank(); ++dim) {
    if (dim != source) order.push_back(dim);
  }
  order.insert(order.begin() + target, source);
  return transpose(x, order);
}

Array broadcast_in_dim(const ArrayLike& x, const Dims& dims, const std::vector<int64_t>& mapping) {
  bool fits =
      mapping.size() == x.array.dims().size() && std::is_sorted(mapping.begin(), mapping.end(), std::less_equal());
  for (size_t k = 0; k < mapping.size() && fits; ++k)
    fits = mapping[k] >= 0 && mapping[k] < static_cast<int64_t>(dims.size()) &&
           dims[static_cast<size_t>(mapping[k])] == x.array.dims()[k];
  if (!fits)
    raise_shape("broadcast_in_dim", x,
                fmt::format("does not become [{}] by ({}): an ascending dim of the same size for each of its own",
                            fmt::join(dims, ","), fmt::join(mapping, ", ")));
  return record(
      {.name = "broadcast_in_dim",
       .lower =
           [mapping](Lowering& lowering, const Node& node, const Ids& operands) {
             return Ids{lowering.builder().with_dimensions(hlo::Opcode::kBroadcast, node.shapes[0], operands, mapping)};
           },
       .vjp =
           [mapping](const VjpArguments& a) {
             std::vector<int> added;
             for (int dim = 0; dim < a.outputs[0].rank(); ++dim) {
               if (std::find(mapping.begin(), mapping.end(), dim) == mapping.end()) added.push_back(dim);
             }
             return std::vector<Array>{sum(a.cotangent(), added)};
           },
       .jvp =
           [mapping](const frontend::JvpArguments& a) {
             return std::vector<Array>{broadcast_in_dim(a.tangents[0], a.outputs[0].dims(), mapping)};
           }},
      x, dims);
}

Array broadcast_to(const ArrayLike& x, const Dims& dims, Where where) {
  if (x.array.dims() == dims) return x.array;
  const Dims& own = x.array.dims();
  Dims kept;  // HLO's broadcast stretches nothing: dims of size 1 are dropped and made anew
  std::vector<int64_t> mapping;
  for (size_t k = 0; k < own.size(); ++k) {
    const int64_t target = static_cast<int64_t>(dims.size() - own.size() + k);
    const bool fits = dims.size() >= own.size() && (own[k] == 1 || own[k] == dims[static_cast<size_t>(target)]);
    require<InvalidArgumentError>(fits, "broadcast_to", "{} at {} does not broadcast to [{}]",
                                  to_string(x.array.shape()), frontend::to_string(where), fmt::join(dims, ","));
    if (own[k] == 1 && dims[static_cast<size_t>(target)] != 1) continue;
    kept.push_back(own[k]);
    mapping.push_back(target);
  }
  require<InvalidArgumentError>(dims.size() >= own.size(), "broadcast_to", "{} at {} does not broadcast to [{}]",
                                to_string(x.array.shape()), frontend::to_string(where), fmt::join(dims, ","));
  return broadcast_in_dim({reshape({x.array, where}, kept), where}, dims, mapping);
}

Array expand_dims(const ArrayLike& x, const std::vector<int>& places) {
  const int rank = x.array.rank() + static_cast<int>(places.size());
  std::vector<int> added;
  for (const int place : places) {
    if (place < -rank || place >= rank)
      raise_shape("expand_dims", x, fmt::format("of {} dims that come of it none is {}", rank, place));
    added.push_back(place < 0 ? place + rank : place);
  }
  Dims dims;
  size_t next = 0;
  for (int dim = 0; dim < rank; ++dim) {
    const bool fresh = std::find(added.begin(), added.end(), dim) != added.end();
    if (!fresh && next == x.array.dims().size()) raise_shape("expand_dims", x, "a place is named twice");
    dims.push_back(fresh ? 1 : x.array.dims()[next++]);
  }
  return reshape(x, dims);
}

Array squeeze(const ArrayLike& x, const std::vector<int>& dims) {
  std::vector<int> dropped;
  for (const int dim : dims) {
    dropped.push_back(normal_dim("squeeze", dim, x.array.shape(), x.where));
    if (x.array.dim(dim) != 1)
      raise_shape("squeeze", x, fmt::format("dim {} has size {}, not 1", dim, x.array.dim(dim)));
  }
  Dims kept;
  for (int dim = 0; dim < x.array.rank(); ++dim) {
    const bool drop =
        dims.empty() ? x.array.dim(dim) == 1 : std::find(dropped.begin(), dropped.end(), dim) != dropped.end();
    if (!drop) kept.push_back(x.array.dim(dim));
  }
  return reshape(x, kept);
}

Array concatenate(const std::vector<Array>& arrays, int dim, Where where) {
  require<InvalidArgumentError>(!arrays.empty(), "concatenate", "no arrays given at {}", frontend::to_string(where));
  const std::vector<Array> operands = frontend::promoted(arrays, where);
  const int along = normal_dim("concatenate", dim, operands[0].shape(), where);
  Dims dims = operands[0].dims();
  for (size_t k = 1; k < operands.size(); ++k) {
    Dims other = operands[k].dims();
    const bool fits = other.size() == dims.size();
    const int64_t size = fits ? other[static_cast<size_t>(along)] : 0;
    if (fits) other[static_cast<size_t>(along)] = dims[static_cast<size_t>(along)];
    require<InvalidArgumentError>(fits && other == dims, "concatenate", "{} and {} at {} differ in other dims than {}",
                                  to_string(operands[0].shape()), to_string(operands[k].shape()),
                                  frontend::to_string(where), along);
    dims[static_cast<size_t>(along)] += size;
  }
  if (operands.size() == 1) return operands[0];
  return emit_one(
      Primitive{.name = "concatenate",
                .lower =
                    [along](Lowering& lowering, const Node& node, const Ids& ids) {
                      return Ids{
                          lowering.builder().with_dimensions(hlo::Opcode::kConcatenate, node.shapes[0], ids, {along})};
                    },
                .vjp =
                    [along](const VjpArguments& a) {
                      std::vector<Array> parts;
                      int64_t at = 0;
                      for (size_t k = 0; k < a.inputs.size(); ++k) {
                        const int64_t end = at + a.inputs[k].dim(along);
                        parts.push_back(a.wanted[k] ? slice_in_dim(a.cotangent(), along, at, end) : Array());
                        at = end;
                      }
                      return parts;
                    }},
      operands, Shape(operands[0].dtype(), dims), where);
}

Array stack(const std::vector<Array>& arrays, int dim, Where where) {
  std::vector<Array> widened;
  for (const Array& array : arrays) {
    require<InvalidArgumentError>(array.dims() == arrays[0].dims(), "stack", "{} and {} at {} differ",
                                  to_string(arrays[0].shape()), to_string(array.shape()), frontend::to_string(where));
    widened.push_back(expand_dims({array, where}, {dim}));
  }
  return concatenate(widened, dim, where);
}

std::vector<Array> split(const ArrayLike& x, int64_t parts, int dim) {
  const int along = normal_dim("split", dim, x.array.shape(), x.where);
  const int64_t size = x.array.dim(along);
  if (parts < 1 || size % parts != 0)
    raise_shape("split", x, fmt::format("dim {} does not divide into {} parts", dim, parts));
  std::vector<int64_t> cuts;
  for (int64_t k = 1; k < parts; ++k) cuts.push_back(k * (size / parts));
  return split_at(x, cuts, along);
}

std::vector<Array> split_at(const ArrayLike& x, const std::vector<int64_t>& indices, int dim) {
  const int along = normal_dim("split_at", dim, x.array.shape(), x.where);
  std::vector<Array> parts;
  int64_t start = 0;
  for (size_t k = 0; k <= indices.size(); ++k) {
    const int64_t end = k < indices.size() ? indices[k] : x.array.dim(along);
    parts.push_back(slice_in_dim(x, along, start, end));
    start = end;
  }
  return parts;
}

Array pad(const ArrayLike& x, const std::vector<Padding>& padding, const ArrayLike& value) {
  if (padding.size() != x.array.dims().size())
    raise_shape("pad", x, fmt::format("{} paddings given for {} dims", padding.size(), x.array.rank()));
  if (value.array.rank() != 0)
    raise_shape("pad", x, fmt::format("{} is no scalar to pad it with", to_string(value.array.shape())));
  Dims dims;
  std::vector<hlo::PadDim> config;
  bool trivial = true;
  for (size_t k = 0; k < padding.size(); ++k) {
    const Padding& one = padding[k];
    const int64_t size = x.array.dims()[k];
    dims.push_back(one.low + one.high + size + std::max<int64_t>(0, size - 1) * one.interior);
    if (one.interior < 0 || dims.back() < 0)
      raise_shape("pad", x, fmt::format("the padding of dim {} leaves a negative size", k));
    config.push_back({one.low, one.high, one.interior});
    trivial = trivial && one.low == 0 && one.high == 0 && one.interior == 0;
  }
  if (trivial) return x.array;
  const Array filler = value.array.astype(x.array.astype(x.array.dtype()).dtype());
  return emit_one(Primitive{.name = "pad",
                            .lower =
                                [config](Lowering& lowering, const Node& node, const Ids& ids) {
                                  return Ids{lowering.builder().pad(node.shapes[0], ids[0], ids[1], config)};
                                },
                            .vjp =
                                [padding](const VjpArguments& a) {
                                  // What the operand's elements get is a pad by the opposite amounts and a stride over
                                  // the interior.
                                  std::vector<Padding> undo;
                                  std::vector<int64_t> start, stride;
                                  for (const Padding& one : padding) {
                                    undo.push_back({-one.low, -one.high, 0});
                                    start.push_back(0);
                                    stride.push_back(one.interior + 1);
                                  }
                                  const Array whole = pad(a.cotangent(), undo);
                                  const Array of_x = slice(whole, start, whole.dims(), stride);
                                  Array of_value;
                                  if (a.wanted[1]) of_value = subtract(sum(a.cotangent()), sum(of_x));
                                  return std::vector<Array>{of_x, of_value};
                                }},
                  {x.array, filler}, Shape(x.array.dtype(), dims), x.where);
}

Array slice(const ArrayLike& x, const std::vector<int64_t>& start, const std::vector<int64_t>& limit,
            const std::vector<int64_t>& stride) {
  const size_t rank = x.array.dims().size();
  if (start.size() != rank || limit.size() != rank || (!stride.empty() && stride.size() != rank))
    raise_shape("slice", x, "start, limit and stride need an entry a dim");
  Dims dims;
  std::vector<hlo::SliceDim> config;
  std::vector<Padding> back;
  for (size_t k = 0; k < rank; ++k) {
    const int64_t step = stride.empty() ? 1 : stride[k];
    if (start[k] < 0 || limit[k] < start[k] || limit[k] > x.array.dims()[k] || step < 1)
      raise_shape("slice", x, fmt::format("has no elements {}..{} by {} in dim {}", start[k], limit[k], step, k));
    const int64_t size = (limit[k] - start[k] + step - 1) / step;
    dims.push_back(size);
    config.push_back({start[k], limit[k], step});
    const int64_t spanned = size == 0 ? 0 : (size - 1) * step + 1;
    back.push_back({start[k], x.array.dims()[k] - start[k] - spanned, step - 1});
  }
  if (dims == x.array.dims()) return x.array;
  return record(
      {.name = "slice",
       .lower = [config](Lowering& lowering, const Node& node,
                         const Ids& ids) { return Ids{lowering.builder().slice(node.shapes[0], ids[0], config)}; },
       .vjp = [back](const VjpArguments& a) { return std::vector<Array>{pad(a.cotangent(), back)}; }},
      x, dims);
}

Array slice_in_dim(const ArrayLike& x, int dim, int64_t start, int64_t limit, int64_t stride) {
  const auto along = static_cast<size_t>(normal_dim("slice_in_dim", dim, x.array.shape(), x.where));
  std::vector<int64_t> starts(x.array.dims().size(), 0), limits = x.array.dims(), strides(x.array.dims().size(), 1);
  starts[along] = start;
  limits[along] = limit;
  strides[along] = stride;
  return slice(x, starts, limits, strides);
}

Array reverse(const ArrayLike& x, const std::vector<int>& dims) {
  std::vector<int64_t> reversed;
  for (const int dim : dims) {
    const int64_t normal = normal_dim("reverse", dim, x.array.shape(), x.where);
    if (std::find(reversed.begin(), reversed.end(), normal) != reversed.end())
      raise_shape("reverse", x, fmt::format("dim {} is named twice", dim));
    reversed.push_back(normal);
  }
  if (reversed.empty()) return x.array;
  return record(
      {.name = "reverse",
       .lower =
           [reversed](Lowering& lowering, const Node& node, const Ids& ids) {
             return Ids{lowering.builder().with_dimensions(hlo::Opcode::kReverse, node.shapes[0], ids, reversed)};
           },
       .vjp =
           [reversed](const VjpArguments& a) {
             return std::vector<Array>{reverse(a.cotangent(), std::vector<int>(reversed.begin(), reversed.end()))};
           }},
      x, x.array.dims());
}

Array roll(const ArrayLike& x, int64_t shift, int dim) {
  const int along = normal_dim("roll", dim, x.array.shape(), x.where);
  const int64_t size = x.array.dim(along);
  if (size == 0) return x.array;
  const int64_t cut = ((-shift) % size + size) % size;
  if (cut == 0) return x.array;
  return concatenate({slice_in_dim(x, along, cut, size), slice_in_dim(x, along, 0, cut)}, along, x.where);
}

Array repeat(const ArrayLike& x, int64_t count, int dim) {
  const int along = normal_dim("repeat", dim, x.array.shape(), x.where);
  require_count("repeat", x, count);
  Dims wide = x.array.dims();
  wide.insert(wide.begin() + along + 1, count);
  Dims flat = x.array.dims();
  flat[static_cast<size_t>(along)] *= count;
  return reshape({broadcast_to(expand_dims(x, {along + 1}), wide, x.where), x.where}, flat);
}

Array tile(const ArrayLike& x, const std::vector<int64_t>& counts) {
  const size_t rank = x.array.dims().size();
  if (counts.size() > rank) {
    Dims own = x.array.dims();
    own.insert(own.begin(), counts.size() - rank, 1);
    return tile({reshape(x, own), x.where}, counts);
  }
  if (counts.size() < rank) {
    std::vector<int64_t> all(rank, 1);
    std::copy(counts.begin(), counts.end(), all.end() - static_cast<std::ptrdiff_t>(counts.size()));
    return tile(x, all);
  }
  Dims wide, flat;
  std::vector<int> places;
  for (size_t k = 0; k < counts.size(); ++k) {
    require_count("tile", x, counts[k]);
    places.push_back(static_cast<int>(wide.size()));
    wide.push_back(counts[k]);
    wide.push_back(x.array.dims()[k]);
    flat.push_back(counts[k] * x.array.dims()[k]);
  }
  return reshape({broadcast_to(expand_dims(x, places), wide, x.where), x.where}, flat);
}

Array Array::reshape(const Dims& dims, Where where) const { return alpa::reshape(ArrayLike(*this, where), dims); }
Array Array::transposed(Where where) const { return alpa::transpose(ArrayLike(*this, where)); }

}  // namespace alpa
