#include <fmt/ranges.h>

#include "alpa/base/error.h"
#include "alpa/frontend/autodiff.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/elementwise_rules.h"
#include "alpa/frontend/ops/indexing.h"
#include "alpa/frontend/ops/shape.h"
#include "alpa/frontend/promotion.h"

// Slices whose start is computed, of indexing.h. Reading and writing are each other's transposes.
namespace alpa {
namespace {

using frontend::Lowering;
using frontend::Node;
using frontend::Primitive;
using frontend::VjpArguments;
using Ids = std::vector<int32_t>;

// One scalar a dim, counted from 0, all of one element type. Numbers are counted from 0 here and now.
std::vector<Array> normal_starts(const char* op, const ArrayLike& x, const std::vector<Array>& starts) {
  require<InvalidArgumentError>(starts.size() == x.array.dims().size(), op, "{} starts given for {} at {}",
                                starts.size(), tensor::to_string(x.array.shape()), frontend::to_string(x.where));
  if (starts.empty()) return {};
  std::vector<Array> wide;
  for (size_t k = 0; k < starts.size(); ++k) {
    const Array& start = starts[k];
    require<InvalidArgumentError>(start.defined() && start.rank() == 0 && tensor::is_integral(start.dtype()), op,
                                  "start {} of {} at {} is {}, no integer scalar", k,
                                  tensor::to_string(x.array.shape()), frontend::to_string(x.where),
                                  start.defined() ? tensor::to_string(start.shape()) : "an Array never assigned");
    const bool narrow = !start.is_weak() && tensor::bit_width(start.dtype()) < 32;
    wide.push_back(narrow ? start.astype(DType::kS32) : start);
  }
  const DType dtype = promote(wide).dtype;
  std::vector<Array> result;
  for (size_t k = 0; k < wide.size(); ++k) {
    if (frontend::is_number(*wide[k].node())) {
      const double number = wide[k].node()->number;
      const double size = static_cast<double>(x.array.dims()[k]);
      tensor::Literal literal(Shape(dtype, {}));
      literal.set(0, number < 0 ? number + size : number);
      result.emplace_back(std::move(literal));
    } else {
      result.push_back(frontend::wrapped_indices(wide[k].astype(dtype), x.array.dims()[k]));
    }
  }
  return result;
}

std::vector<Array> with(std::vector<Array> first, const std::vector<Array>& inputs, size_t from) {
  first.insert(first.end(), inputs.begin() + static_cast<std::ptrdiff_t>(from), inputs.end());
  return first;
}

Array record_update(const std::vector<Array>& inputs, Where where);

// Inputs: the array and its starts.
Array record_slice(const std::vector<Array>& inputs, const std::vector<int64_t>& sizes, Where where) {
  return frontend::emit_one(
      Primitive{.name = "dynamic_slice",
                .lower = [](Lowering& lowering, const Node& node,
                            const Ids& ids) { return Ids{lowering.builder().dynamic_slice(node.shapes[0], ids)}; },
                .vjp =
                    [](const VjpArguments& a) {
                      std::vector<Array> cotangents = {
                          record_update(with({zeros_like(a.inputs[0]), a.cotangent()}, a.inputs, 1), Where::current())};
                      cotangents.resize(a.inputs.size());
                      return cotangents;
                    },
                .jvp =
                    [sizes](const frontend::JvpArguments& a) {
                      return std::vector<Array>{
                          record_slice(with({a.tangents[0]}, a.inputs, 1), sizes, Where::current())};
                    }},
      inputs, Shape(inputs[0].dtype(), sizes), where);
}

// Inputs: the array, the update and its starts.
Array record_update(const std::vector<Array>& inputs, Where where) {
  return frontend::emit_one(
      Primitive{.name = "dynamic_update_slice",
                .lower = frontend::lower_to(hlo::Opcode::kDynamicUpdateSlice),
                .vjp =
                    [](const VjpArguments& a) {
                      std::vector<Array> cotangents(a.inputs.size());
                      if (a.wanted[0]) {
                        cotangents[0] = record_update(with({a.cotangent(), zeros_like(a.inputs[1])}, a.inputs, 2),
                                                      Where::current());
                      }
                      if (a.wanted[1]) {
                        cotangents[1] =
                            record_slice(with({a.cotangent()}, a.inputs, 2), a.inputs[1].dims(), Where::current());
                      }
                      return cotangents;
                    },
                .jvp =
                    [](const frontend::JvpArguments& a) {
                      const Array of_x = frontend::instantiate(a.tangents[0], a.inputs[0].shape());
                      const Array of_update = frontend::instantiate(a.tangents[1], a.inputs[1].shape());
                      return std::vector<Array>{record_update(with({of_x, of_update}, a.inputs, 2), Where::current())};
                    }},
      inputs, inputs[0].shape(), where);
}

void require_sizes(const char* op, const ArrayLike& x, const Dims& sizes) {
  bool fits = sizes.size() == x.array.dims().size();
  for (size_t k = 0; fits && k < sizes.size(); ++k) fits = sizes[k] >= 0 && sizes[k] <= x.array.dims()[k];
  require<InvalidArgumentError>(fits, op, "sizes [{}] do not fit {} at {}", fmt::join(sizes, ","),
                                tensor::to_string(x.array.shape()), frontend::to_string(x.where));
}

std::vector<Array> starts_in_dim(const ArrayLike& x, const ArrayLike& start, int dim) {
  std::vector<Array> starts(x.array.dims().size(), Array(0));
  starts[static_cast<size_t>(dim)] = start.array;
  return starts;
}

}  // namespace

Array dynamic_slice(const ArrayLike& x, const std::vector<Array>& starts, const std::vector<int64_t>& sizes) {
  require_sizes("dynamic_slice", x, sizes);
  if (sizes == x.array.dims()) return x.array;
  return record_slice(with({x.array}, normal_starts("dynamic_slice", x, starts), 0), sizes, x.where);
}

Array dynamic_update_slice(const ArrayLike& x, const ArrayLike& update, const std::vector<Array>& starts) {
  require_sizes("dynamic_update_slice", x, update.array.dims());
  const Array whole = x.array.astype(x.array.dtype());
  const Array part = update.array.astype(whole.dtype());
  return record_update(with({whole, part}, normal_starts("dynamic_update_slice", x, starts), 0), x.where);
}

Array dynamic_slice_in_dim(const ArrayLike& x, const ArrayLike& start, int64_t size, int dim) {
  const int place = frontend::normal_dim("dynamic_slice_in_dim", dim, x.array.shape(), x.where);
  Dims sizes = x.array.dims();
  sizes[static_cast<size_t>(place)] = size;
  return dynamic_slice(x, starts_in_dim(x, start, place), sizes);
}

Array dynamic_update_slice_in_dim(const ArrayLike& x, const ArrayLike& update, const ArrayLike& start, int dim) {
  const int place = frontend::normal_dim("dynamic_update_slice_in_dim", dim, x.array.shape(), x.where);
  return dynamic_update_slice(x, update, starts_in_dim(x, start, place));
}

Array dynamic_index_in_dim(const ArrayLike& x, const ArrayLike& index, int dim, bool keep_dim) {
  const int place = frontend::normal_dim("dynamic_index_in_dim", dim, x.array.shape(), x.where);
  const Array found = dynamic_slice_in_dim(x, index, 1, place);
  return keep_dim ? found : squeeze(found, {place});
}

}  // namespace alpa
