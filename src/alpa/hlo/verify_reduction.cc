#include <algorithm>

#include "alpa/hlo/verify_check.h"

namespace alpa::hlo::verifying {
namespace {

// A computation applied to elements: scalar parameters, operand k's type at parameters k and count + k.
void check_scalar_parameters(const Site& site, size_t called, size_t count) {
  const Computation& callee = site.called(called);
  const auto& params = site.parameters_of_called(called);
  site.check(params.size() == count, "{} has {} parameters instead of {}", callee.name, params.size(), count);
  for (const InstructionId id : params) {
    site.check(callee[id].shape.is_array() && callee[id].shape.rank() == 0, "parameter {} of {} is {}, no scalar",
               callee[id].name, callee.name, tensor::to_string(callee[id].shape));
  }
}

void check_types(const Site& site, size_t called, size_t param, tensor::DType dtype) {
  const Computation& callee = site.called(called);
  const tensor::Shape& shape = callee[site.parameters_of_called(called)[param]].shape;
  site.check(same_type(shape.dtype, dtype), "parameter {} of {} is {} for elements {}", param, callee.name,
             tensor::to_string(shape), tensor::name(dtype));
}

void check_scalar_root(const Site& site, size_t called, const tensor::Shape& root, tensor::DType dtype) {
  site.check(root.is_array() && root.rank() == 0 && same_type(root.dtype, dtype), "{} makes {} instead of a {}",
             site.called(called).name, tensor::to_string(root), tensor::name(dtype));
}

// A reducer or combiner of `count` arrays whose elements have the types of operands `first`, first + 1, ...
void check_reducer(const Site& site, size_t count, size_t first) {
  check_scalar_parameters(site, 0, 2 * count);
  const Computation& callee = site.called(0);
  const tensor::Shape& root = callee[callee.root].shape;
  site.check(root.is_tuple() ? root.elements.size() == count : count == 1, "{} makes {} for {} arrays", callee.name,
             tensor::to_string(root), count);
  for (size_t k = 0; k < count; ++k) {
    const tensor::DType dtype = site.operand(first + k).dtype;
    check_types(site, 0, k, dtype);
    check_types(site, 0, count + k, dtype);
    check_scalar_root(site, 0, root.is_tuple() ? root.elements[k] : root, dtype);
  }
}

// Operands of reduce and reduce-window: arrays of equal dims, then their initial values.
size_t check_reduced_operands(const Site& site) {
  site.check(site.operand_count() % 2 == 0, "it has {} operands: one initial value an array", site.operand_count());
  const size_t count = site.operand_count() / 2;
  for (size_t k = 0; k < count; ++k) {
    site.check_array(k);
    site.check_array(count + k);
    site.check(site.operand(k).dims == site.operand(0).dims, "operands 0 and {} are {} and {}", k,
               tensor::to_string(site.operand(0)), tensor::to_string(site.operand(k)));
    site.check(site.operand(count + k).rank() == 0 && same_type(site.operand(count + k).dtype, site.operand(k).dtype),
               "the initial value of {} is {}", tensor::to_string(site.operand(k)),
               tensor::to_string(site.operand(count + k)));
  }
  return count;
}

// An array of these dims for each of the first `count` operands; a bare array if there is one.
void check_results(const Site& site, size_t count, const std::vector<int64_t>& dims) {
  std::vector<tensor::Shape> shapes;
  for (size_t k = 0; k < count; ++k) shapes.emplace_back(site.operand(k).dtype, dims);
  site.check_result(count == 1 && !site.shape().is_tuple() ? shapes[0] : tensor::Shape::tuple(shapes));
}

void check_reduce(const Site& site) {
  const size_t count = check_reduced_operands(site);
  const std::vector<int64_t> dims = dimensions(site.instruction());
  site.check_dims(dims, site.operand(0).rank(), "dim");
  std::vector<int64_t> kept;
  for (int64_t dim = 0; dim < site.operand(0).rank(); ++dim) {
    if (std::find(dims.begin(), dims.end(), dim) == dims.end())
      kept.push_back(site.operand(0).dims[static_cast<size_t>(dim)]);
  }
  check_results(site, count, kept);
  check_reducer(site, count, 0);
}

std::vector<int64_t> windowed(const Site& site) {
  const std::vector<WindowDim> windows = checked_window(site, site.operand(0).dims.size());
  std::vector<int64_t> dims;
  for (size_t k = 0; k < windows.size(); ++k) dims.push_back(windowed_size(site.operand(0).dims[k], windows[k]));
  return dims;
}

void check_reduce_window(const Site& site) {
  const size_t count = check_reduced_operands(site);
  check_results(site, count, windowed(site));
  check_reducer(site, count, 0);
}

void check_select_and_scatter(const Site& site) {
  site.check_arrays();
  const tensor::DType dtype = site.operand(0).dtype;
  site.check(compatible(site.operand(1), tensor::Shape(dtype, windowed(site))),
             "its source is {}, but the window makes [{}]", tensor::to_string(site.operand(1)),
             fmt::join(windowed(site), ","));
  site.check(site.operand(2).rank() == 0, "its initial value is {}", tensor::to_string(site.operand(2)));
  site.check_result(site.operand(0));
  for (const size_t called : {0, 1}) {
    check_scalar_parameters(site, called, 2);
    check_types(site, called, 0, dtype);
    check_types(site, called, 1, dtype);
    const Computation& callee = site.called(called);
    check_scalar_root(site, called, callee[callee.root].shape, called == 0 ? tensor::DType::kPred : dtype);
  }
}

void check_sort(const Site& site) {
  for (size_t k = 0; k < site.operand_count(); ++k) {
    site.check_array(k);
    site.check(site.operand(k).dims == site.operand(0).dims, "operands 0 and {} are {} and {}", k,
               tensor::to_string(site.operand(0)), tensor::to_string(site.operand(k)));
  }
  const std::vector<int64_t> dims = dimensions(site.instruction());
  site.check(dims.size() == 1, "it names {} dims instead of one", dims.size());
  site.check_dim(dims[0], site.operand(0).rank(), "dim");
  check_results(site, site.operand_count(), site.operand(0).dims);
  check_scalar_parameters(site, 0, 2 * site.operand_count());
  for (size_t k = 0; k < site.operand_count(); ++k) {
    check_types(site, 0, 2 * k, site.operand(k).dtype);
    check_types(site, 0, 2 * k + 1, site.operand(k).dtype);
  }
  check_scalar_root(site, 0, site.called(0)[site.called(0).root].shape, tensor::DType::kPred);
}

void check_map(const Site& site) {
  check_scalar_parameters(site, 0, site.operand_count());
  for (size_t k = 0; k < site.operand_count(); ++k) check_types(site, 0, k, site.operand(k).dtype);
  check_scalar_root(site, 0, site.called(0)[site.called(0).root].shape, site.shape().dtype);
}

// Operands: arrays, indices, updates. Their dims are looked at in verify_indexing.
void check_scatter_combiner(const Site& site) {
  site.check(site.operand_count() % 2 == 1, "it has {} operands: arrays, indices and as many updates",
             site.operand_count());
  check_reducer(site, site.operand_count() / 2, 0);
}

}  // namespace

void check_reduction(const Site& site) {
  switch (site.opcode()) {
    case Opcode::kReduce: return check_reduce(site);
    case Opcode::kReduceWindow: return check_reduce_window(site);
    case Opcode::kSelectAndScatter: return check_select_and_scatter(site);
    case Opcode::kSort: return check_sort(site);
    case Opcode::kMap: return check_map(site);
    case Opcode::kScatter: return check_scatter_combiner(site);
    default: return;
  }
}

}  // namespace alpa::hlo::verifying
