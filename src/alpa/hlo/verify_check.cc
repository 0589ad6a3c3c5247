#include "alpa/hlo/verify_check.h"

#include <algorithm>

namespace alpa::hlo::verifying {
namespace {

// Sizes and paddings beyond this are nobody's, and could overflow when added.
constexpr int64_t kMaxWindow = int64_t{1} << 42;

bool within(int64_t value, int64_t low) { return value >= low && value <= kMaxWindow; }

}  // namespace

bool same_type(tensor::DType a, tensor::DType b) {
  return a == b || (tensor::is_floating(a) && tensor::is_floating(b));
}

bool compatible(const tensor::Shape& a, const tensor::Shape& b) {
  if (a.is_tuple() || b.is_tuple()) {
    return a.dtype == b.dtype &&
           std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(), compatible);
  }
  return same_type(a.dtype, b.dtype) && a.dims == b.dims;
}

void Site::check_array(size_t index) const {
  check(operand(index).is_array(), "operand {} is {}, no array", index, tensor::to_string(operand(index)));
}

void Site::check_arrays() const {
  for (size_t k = 0; k < operand_count(); ++k) check_array(k);
  check(shape().is_array(), "its result {} is no array", tensor::to_string(shape()));
}

void Site::check_result(const tensor::Shape& expected) const {
  check(compatible(shape(), expected), "its shape is {}, but its operands make {}", tensor::to_string(shape()),
        tensor::to_string(expected));
}

void Site::check_dim(int64_t dim, int64_t rank, std::string_view what) const {
  check(dim >= 0 && dim < rank, "{} {} is out of range: there are {} dims", what, dim, rank);
}

void Site::check_dims(const std::vector<int64_t>& dims, int64_t rank, std::string_view what) const {
  std::vector<bool> seen(static_cast<size_t>(rank));
  for (const int64_t dim : dims) {
    check_dim(dim, rank, what);
    check(!seen[static_cast<size_t>(dim)], "{} {} is named twice", what, dim);
    seen[static_cast<size_t>(dim)] = true;
  }
}

void Site::check_sorted_dims(const std::vector<int64_t>& dims, int64_t rank, std::string_view what) const {
  check_dims(dims, rank, what);
  check(std::is_sorted(dims.begin(), dims.end()), "{}s [{}] must ascend", what, fmt::join(dims, ","));
}

int64_t windowed_size(int64_t size, const WindowDim& window) {
  const auto dilated = [](int64_t count, int64_t dilation) {
    return count == 0 ? __int128{0} : (static_cast<__int128>(count) - 1) * dilation + 1;
  };
  const __int128 padded = dilated(size, window.base_dilation) + window.padding_low + window.padding_high;
  const __int128 taps = dilated(window.size, window.window_dilation);
  if (padded <= 0 || taps > padded) return 0;
  const __int128 positions = (padded - taps) / window.stride + 1;
  return positions > INT64_MAX ? INT64_MAX : static_cast<int64_t>(positions);
}

std::vector<WindowDim> checked_window(const Site& site, size_t count) {
  std::vector<WindowDim> dims = window(site.instruction());
  site.check(dims.size() == count, "its window has {} dims instead of {}", dims.size(), count);
  for (const WindowDim& dim : dims) {
    site.check(
        within(dim.size, 1) && within(dim.stride, 1) && within(dim.window_dilation, 1) && within(dim.base_dilation, 1),
        "its window has size {}, stride {}, dilations {} and {}: all are at least 1", dim.size, dim.stride,
        dim.window_dilation, dim.base_dilation);
    site.check(within(dim.padding_low, -kMaxWindow) && within(dim.padding_high, -kMaxWindow),
               "its window has padding {} and {}", dim.padding_low, dim.padding_high);
  }
  return dims;
}

}  // namespace alpa::hlo::verifying
