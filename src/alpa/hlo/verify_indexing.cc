#include <algorithm>

#include "alpa/hlo/verify_check.h"

namespace alpa::hlo::verifying {
namespace {

bool contains(const std::vector<int64_t>& values, int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::vector<int64_t> joined(std::vector<int64_t> a, const std::vector<int64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// What gather and scatter have in common: an array, indices, and which dims of both belong together.
struct Indexed {
  const tensor::Shape& array;
  const tensor::Shape& indices;
  const std::vector<int64_t>& index_map;  ///< Dims of the array that an index vector points into.
  const std::vector<int64_t>& dropped;    ///< Dims of the array that a window has no dim for.
  const std::vector<int64_t>& array_batching;
  const std::vector<int64_t>& indices_batching;
  int64_t index_vector_dim;
};

void check_indexed(const Site& site, const Indexed& it) {
  site.check(tensor::is_integral(it.indices.dtype), "its indices are {}", tensor::to_string(it.indices));
  site.check(it.index_vector_dim >= 0 && it.index_vector_dim <= it.indices.rank(),
             "index vector dim {} is out of range for {}", it.index_vector_dim, tensor::to_string(it.indices));
  const int64_t length =
      it.index_vector_dim < it.indices.rank() ? it.indices.dims[static_cast<size_t>(it.index_vector_dim)] : 1;
  site.check(static_cast<int64_t>(it.index_map.size()) == length, "its index vectors have {} entries for {} dims",
             length, it.index_map.size());
  site.check_dims(joined(it.index_map, it.array_batching), it.array.rank(), "indexed dim");
  site.check_sorted_dims(it.dropped, it.array.rank(), "window dim");
  site.check_sorted_dims(it.array_batching, it.array.rank(), "batching dim");
  site.check_dims(joined(it.dropped, it.array_batching), it.array.rank(), "window dim");
  site.check_dims(it.indices_batching, it.indices.rank(), "batching dim of the indices");
  site.check(
      it.array_batching.size() == it.indices_batching.size() && !contains(it.indices_batching, it.index_vector_dim),
      "batching dims [{}] of the array and [{}] of the indices do not pair", fmt::join(it.array_batching, ","),
      fmt::join(it.indices_batching, ","));
  for (size_t k = 0; k < it.array_batching.size(); ++k) {
    site.check(it.array.dims[static_cast<size_t>(it.array_batching[k])] ==
                   it.indices.dims[static_cast<size_t>(it.indices_batching[k])],
               "batching dims {} of {} and {} of {} differ in size", it.array_batching[k], tensor::to_string(it.array),
               it.indices_batching[k], tensor::to_string(it.indices));
  }
}

// Dims of the indices without the one that holds index vectors.
std::vector<int64_t> batch_sizes(const Indexed& it) {
  std::vector<int64_t> sizes = it.indices.dims;
  if (it.index_vector_dim < it.indices.rank()) sizes.erase(sizes.begin() + it.index_vector_dim);
  return sizes;
}

// Dims of windows at `window_dims`, the indices' batch dims, in order, at the others.
std::vector<int64_t> interleaved(const std::vector<int64_t>& window_dims, const std::vector<int64_t>& window,
                                 const std::vector<int64_t>& batch) {
  std::vector<int64_t> dims;
  size_t w = 0;
  size_t b = 0;
  while (w < window.size() || b < batch.size()) {
    const bool is_window = contains(window_dims, static_cast<int64_t>(dims.size()));
    dims.push_back(is_window ? window[w++] : batch[b++]);
  }
  return dims;
}

void check_gather(const Site& site) {
  site.check_arrays();
  const GatherDims dims = gather_dims(site.instruction());
  const tensor::Shape& table = site.operand(0);
  const Indexed it{table,
                   site.operand(1),
                   dims.start_index_map,
                   dims.collapsed,
                   dims.operand_batching,
                   dims.indices_batching,
                   dims.index_vector_dim};
  check_indexed(site, it);
  site.check(dims.slice_sizes.size() == table.dims.size(), "it has {} slice sizes for {}", dims.slice_sizes.size(),
             tensor::to_string(table));
  std::vector<int64_t> window;
  for (int64_t dim = 0; dim < table.rank(); ++dim) {
    const int64_t size = dims.slice_sizes[static_cast<size_t>(dim)];
    const bool dropped = contains(dims.collapsed, dim) || contains(dims.operand_batching, dim);
    site.check(size >= 0 && size <= table.dims[static_cast<size_t>(dim)] && (!dropped || size <= 1),
               "slice size {} does not fit dim {} of {}", size, dim, tensor::to_string(table));
    if (!dropped) window.push_back(size);
  }
  const std::vector<int64_t> batch = batch_sizes(it);
  site.check(dims.offset.size() == window.size(), "it has {} offset dims for windows of {} dims", dims.offset.size(),
             window.size());
  site.check_sorted_dims(dims.offset, static_cast<int64_t>(window.size() + batch.size()), "offset dim");
  site.check_result(tensor::Shape(table.dtype, interleaved(dims.offset, window, batch)));
}

void check_update(const Site& site, size_t index, const ScatterDims& dims, const Indexed& it) {
  const tensor::Shape& update = site.operand(index);
  const std::vector<int64_t> batch = batch_sizes(it);
  site.check_sorted_dims(dims.update_window, update.rank(), "window dim of the update");
  site.check(
      dims.update_window.size() + dims.inserted_window.size() + dims.input_batching.size() == it.array.dims.size() &&
          dims.update_window.size() + batch.size() == update.dims.size(),
      "windows of {} dims do not fit {} updated by {}", dims.update_window.size(), tensor::to_string(it.array),
      tensor::to_string(update));
  size_t next = 0;
  for (int64_t dim = 0; dim < it.array.rank(); ++dim) {
    if (contains(dims.inserted_window, dim) || contains(dims.input_batching, dim)) continue;
    const int64_t size = update.dims[static_cast<size_t>(dims.update_window[next++])];
    site.check(size <= it.array.dims[static_cast<size_t>(dim)], "a window of size {} does not fit dim {} of {}", size,
               dim, tensor::to_string(it.array));
  }
  next = 0;
  for (int64_t dim = 0; dim < update.rank(); ++dim) {
    if (contains(dims.update_window, dim)) continue;
    site.check(update.dims[static_cast<size_t>(dim)] == batch[next++],
               "dim {} of the update {} is not that of the indices {}", dim, tensor::to_string(update),
               tensor::to_string(it.indices));
  }
}

void check_scatter(const Site& site) {
  const size_t count = site.operand_count() / 2;
  const ScatterDims dims = scatter_dims(site.instruction());
  for (size_t k = 0; k < site.operand_count(); ++k) site.check_array(k);
  std::vector<tensor::Shape> shapes;
  for (size_t k = 0; k < count; ++k) {
    const tensor::Shape& array = site.operand(k);
    const Indexed it{array,
                     site.operand(count),
                     dims.scatter_to_operand,
                     dims.inserted_window,
                     dims.input_batching,
                     dims.indices_batching,
                     dims.index_vector_dim};
    site.check(array.dims == site.operand(0).dims, "operands 0 and {} are {} and {}", k,
               tensor::to_string(site.operand(0)), tensor::to_string(array));
    check_indexed(site, it);
    check_update(site, count + 1 + k, dims, it);
    site.check(same_type(array.dtype, site.operand(count + 1 + k).dtype), "it updates {} with {}",
               tensor::to_string(array), tensor::to_string(site.operand(count + 1 + k)));
    shapes.push_back(array);
  }
  site.check_result(count == 1 && !site.shape().is_tuple() ? shapes[0] : tensor::Shape::tuple(shapes));
}

}  // namespace

void check_indexing(const Site& site) {
  switch (site.opcode()) {
    case Opcode::kGather: return check_gather(site);
    case Opcode::kScatter: return check_scatter(site);
    default: return;
  }
}

}  // namespace alpa::hlo::verifying
