#include "alpa/frontend/ops/subscript.h"

#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/frontend/node.h"
#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/indexing.h"
#include "alpa/frontend/ops/shape.h"
#include "alpa/frontend/promotion.h"

namespace alpa {
namespace {

using Kind = Index::Kind;

bool takes_dim(const Index& index) { return index.kind != Kind::kNewAxis && index.kind != Kind::kEllipsis; }

// One subscript a dim, and new ones.
std::vector<Index> spelled_out(const Array& x, const std::vector<Index>& indices) {
  const auto named = static_cast<int64_t>(std::count_if(indices.begin(), indices.end(), takes_dim));
  const auto dots =
      std::count_if(indices.begin(), indices.end(), [](const Index& index) { return index.kind == Kind::kEllipsis; });
  require<InvalidArgumentError>(named <= x.rank() && dots <= 1, "subscript", "{} with {} subscripts{} at {}",
                                tensor::to_string(x.shape()), named, dots > 1 ? " and more than one ellipsis" : "",
                                indices.empty() ? "" : frontend::to_string(indices[0].where));
  std::vector<Index> result;
  const auto fill = [&](Where where) {
    for (int64_t k = named; k < x.rank(); ++k) result.emplace_back(Range{}, where);
  };
  for (const Index& index : indices) {
    if (index.kind == Kind::kEllipsis)
      fill(index.where);
    else if (index.kind == Kind::kWhole)
      result.emplace_back(Range{}, index.where);
    else
      result.push_back(index);
  }
  if (dots == 0) fill(Where::current());
  return result;
}

int64_t checked_number(const Array& x, const Index& index, int dim) {
  const int64_t size = x.dim(dim);
  const int64_t normal = index.number < 0 ? index.number + size : index.number;
  require<InvalidArgumentError>(normal >= 0 && normal < size, "subscript",
                                "index {} is out of range for dim {} of {}, which has size {}, at {}", index.number,
                                dim, tensor::to_string(x.shape()), size, frontend::to_string(index.where));
  return normal;
}

/// A range of a dim with positive step, and whether it is then reversed.
struct Span {
  int64_t start, limit, step;
  bool reversed;
};

Span span_of(const Range& range, int64_t size, Where where) {
  require<InvalidArgumentError>(range.step != 0, "subscript", "a range with step 0 at {}", frontend::to_string(where));
  const bool back = range.step < 0;
  const auto placed = [&](std::optional<int64_t> end, int64_t absent) {
    if (!end) return absent;
    const int64_t normal = *end < 0 ? *end + size : *end;
    return back ? std::clamp<int64_t>(normal, -1, size - 1) : std::clamp<int64_t>(normal, 0, size);
  };
  const int64_t start = placed(range.start, back ? size - 1 : 0);
  const int64_t stop = placed(range.stop, back ? -1 : size);
  const int64_t step = back ? -range.step : range.step;
  const int64_t count = std::max<int64_t>(0, ((back ? start - stop : stop - start) + step - 1) / step);
  if (count == 0) return {0, 0, 1, false};
  const int64_t last = back ? start - (count - 1) * step : start + (count - 1) * step;
  return {std::min(start, last), std::max(start, last) + 1, step, back};
}

// All ranges and, without arrays, numbers at once; numbers leave dims of size 1.
Array sliced(const Array& x, const std::vector<Index>& indices, bool with_arrays) {
  std::vector<int64_t> start, limit, step;
  std::vector<int> reversed;
  int dim = 0;
  Where where = indices.empty() ? Where::current() : indices[0].where;
  for (const Index& index : indices) {
    if (!takes_dim(index)) continue;
    Span span{0, x.dim(dim), 1, false};
    if (index.kind == Kind::kRange) span = span_of(index.range, x.dim(dim), index.where);
    if (index.kind == Kind::kNumber) {
      const int64_t number = checked_number(x, index, dim);
      if (!with_arrays) span = {number, number + 1, 1, false};
    }
    start.push_back(span.start);
    limit.push_back(span.limit);
    step.push_back(span.step);
    if (span.reversed) reversed.push_back(dim);
    ++dim;
  }
  const ArrayLike whole(x, where);
  return reverse({slice(whole, start, limit, step), where}, reversed);
}

// Without the dims of numbers, with new ones.
Array reshaped(const Array& x, const std::vector<Index>& indices) {
  Dims dims;
  int dim = 0;
  for (const Index& index : indices) {
    if (index.kind == Kind::kNewAxis) dims.push_back(1);
    if (index.kind == Kind::kRange) dims.push_back(x.dim(dim));
    if (takes_dim(index)) ++dim;
  }
  return x.reshape(dims, indices.empty() ? Where::current() : indices[0].where);
}

/// What arrays and numbers choose together, as a gather: one index vector an element of the broadcast arrays.
struct Choice {
  std::vector<Array> indices;
  GatherDims dims;
  std::vector<int64_t> slice_sizes;
  size_t place = 0;  ///< Of the chosen dims in the result.
};

Choice choice_of(const Array& x, const std::vector<Index>& indices) {
  Choice choice;
  choice.slice_sizes = x.dims();
  bool open = false, closed = false, scattered = false;
  int64_t dim = 0, kept = 0;
  for (const Index& index : indices) {
    const bool chosen = index.kind == Kind::kArray || index.kind == Kind::kNumber;
    if (chosen && closed) scattered = true;
    if (chosen && !open) choice.place = static_cast<size_t>(kept);
    open = open || chosen;
    closed = closed || (open && !chosen);
    if (!chosen) {
      ++kept;
      dim += takes_dim(index) ? 1 : 0;
      continue;
    }
    const int64_t size = x.dims()[static_cast<size_t>(dim)];
    const Array numbers = index.kind == Kind::kArray ? index.array : Array(static_cast<int32_t>(index.number));
    require<InvalidArgumentError>(tensor::is_integral(numbers.dtype()), "subscript",
                                  "{} as a subscript at {}: only integers choose elements; for a mask use where",
                                  tensor::to_string(numbers.shape()), frontend::to_string(index.where));
    const bool narrow = tensor::bit_width(numbers.dtype()) < 32 || numbers.is_weak();
    choice.indices.push_back(frontend::wrapped_indices(narrow ? numbers.astype(DType::kS32) : numbers, size));
    choice.dims.collapsed_slice_dims.push_back(dim);
    choice.slice_sizes[static_cast<size_t>(dim)] = 1;
    ++dim;
  }
  if (scattered) choice.place = 0;
  choice.dims.start_index_map = choice.dims.collapsed_slice_dims;
  return choice;
}

Array chosen(const Array& x, const std::vector<Index>& indices, Where where) {
  // New dims first, so that the gather's dims are those of the result.
  Dims widened;
  std::vector<Index> entries;
  int at = 0;
  for (const Index& index : indices) {
    widened.push_back(index.kind == Kind::kNewAxis ? 1 : x.dim(at++));
    entries.push_back(index.kind == Kind::kNewAxis ? Index(Range{}, index.where) : index);
  }
  const Array table = x.reshape(widened, where);
  Choice choice = choice_of(table, entries);
  const std::vector<Array> wide = frontend::promoted_and_broadcast("subscript", choice.indices, where);
  const int extra = wide[0].rank();
  const int kept = table.rank() - static_cast<int>(wide.size());
  for (int k = 0; k < kept; ++k) choice.dims.offset_dims.push_back(k < static_cast<int>(choice.place) ? k : k + extra);
  const Array vectors = stack(wide, -1, where);
  return gather({table, where}, {vectors, where}, choice.dims, choice.slice_sizes, OutOfRange::kClip);
}

}  // namespace

Array subscript(const Array& x, const std::vector<Index>& indices) {
  require<InvalidArgumentError>(x.defined(), "subscript", "an Array that was never assigned has no elements");
  const std::vector<Index> all_dims = spelled_out(x, indices);
  const Where where = indices.empty() ? Where::current() : indices[0].where;
  const bool with_arrays =
      std::any_of(all_dims.begin(), all_dims.end(), [](const Index& index) { return index.kind == Kind::kArray; });
  const Array part = sliced(x, all_dims, with_arrays);
  return with_arrays ? chosen(part, all_dims, where) : reshaped(part, all_dims);
}

Array Array::operator()(const Index& a) const { return subscript(*this, {a}); }
Array Array::operator()(const Index& a, const Index& b) const { return subscript(*this, {a, b}); }
Array Array::operator()(const Index& a, const Index& b, const Index& c) const { return subscript(*this, {a, b, c}); }
Array Array::operator()(const Index& a, const Index& b, const Index& c, const Index& d) const {
  return subscript(*this, {a, b, c, d});
}
Array Array::operator()(const Index& a, const Index& b, const Index& c, const Index& d, const Index& e) const {
  return subscript(*this, {a, b, c, d, e});
}
Array Array::operator()(const Index& a, const Index& b, const Index& c, const Index& d, const Index& e,
                        const Index& f) const {
  return subscript(*this, {a, b, c, d, e, f});
}

}  // namespace alpa
